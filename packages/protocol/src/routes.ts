/**
 * The method and path of each registry endpoint. `endpoints.ts` adds the schemas, which only servers load; `client.ts`
 * calls the endpoints. Each route is a constant of its own, so that bundlers can shorten its name and drop it if it is
 * unused.
 */

// Models

export const listModels = { method: 'GET', url: '/v1/models' } as const
export const createModel = { method: 'POST', url: '/v1/models' } as const
export const getModel = { method: 'GET', url: '/v1/models/:id' } as const
export const updateModel = { method: 'PATCH', url: '/v1/models/:id' } as const
export const deleteModel = { method: 'DELETE', url: '/v1/models/:id' } as const
export const getCard = { method: 'GET', url: '/v1/models/:id/card' } as const
export const renderCard = { method: 'POST', url: '/v1/cards' } as const
export const toggleLike = {
  method: ['POST', 'DELETE'] as ('POST' | 'DELETE')[],
  url: '/v1/models/:id/like',
} as const
export const setLike = { method: 'PUT', url: '/v1/models/:id/like' } as const
export const getFacets = { method: 'GET', url: '/v1/facets' } as const
export const getStats = { method: 'GET', url: '/v1/stats' } as const
export const getUser = { method: 'GET', url: '/v1/users/:username' } as const

// Files

export const listFiles = { method: 'GET', url: '/v1/models/:id/files' } as const
export const startUpload = { method: 'POST', url: '/v1/models/:id/files' } as const
export const reserveUpload = { method: 'POST', url: '/v1/models/:id/uploads' } as const
export const declareChunks = {
  method: 'POST',
  url: '/v1/models/:id/files/:file_id/chunks',
} as const
export const getFile = { method: 'GET', url: '/v1/models/:id/files/:file_id' } as const
export const getUpload = { method: 'GET', url: '/v1/models/:id/files/:file_id/upload' } as const
export const completeUpload = {
  method: 'POST',
  url: '/v1/models/:id/files/:file_id/complete',
} as const
export const deleteFile = { method: 'DELETE', url: '/v1/models/:id/files/:file_id' } as const

// Downloads

export const getDownload = { method: 'GET', url: '/v1/files/:model_id/download/:file_id' } as const
export const getTorrent = { method: 'GET', url: '/v1/files/:model_id/torrent/:file_id' } as const
export const getTorrentByToken = {
  method: 'GET',
  url: '/v1/files/:model_id/torrent/:file_id/:token',
} as const
export const getChunk = { method: 'GET', url: '/v1/files/chunks/:chunk_hash' } as const
export const getChunkByToken = {
  method: 'GET',
  url: '/v1/files/chunks/:chunk_hash/:token',
} as const

// Accounts

export const register = { method: 'POST', url: '/v1/auth/register' } as const
export const login = { method: 'POST', url: '/v1/auth/login' } as const
export const logout = { method: 'POST', url: '/v1/auth/logout' } as const
export const getMe = { method: 'GET', url: '/v1/auth/me' } as const
export const changePassword = { method: 'PUT', url: '/v1/auth/password' } as const
export const listSessions = { method: 'GET', url: '/v1/auth/sessions' } as const
export const deleteSession = { method: 'DELETE', url: '/v1/auth/sessions/:id' } as const
export const createApiKey = { method: 'POST', url: '/v1/api-keys' } as const
export const listApiKeys = { method: 'GET', url: '/v1/api-keys' } as const
export const deleteApiKey = { method: 'DELETE', url: '/v1/api-keys/:id' } as const

// Members

export const listMembers = { method: 'GET', url: '/v1/models/:id/members' } as const
export const setMember = { method: 'PUT', url: '/v1/models/:id/members/:username' } as const
export const removeMember = { method: 'DELETE', url: '/v1/models/:id/members/:username' } as const
export const transferModel = { method: 'PUT', url: '/v1/models/:id/owner' } as const

// Administration

export const listUsers = { method: 'GET', url: '/v1/admin/users' } as const
export const createUser = { method: 'POST', url: '/v1/admin/users' } as const
export const getAdminUser = { method: 'GET', url: '/v1/admin/users/:username' } as const
export const updateUser = { method: 'PATCH', url: '/v1/admin/users/:username' } as const
export const removeUser = { method: 'DELETE', url: '/v1/admin/users/:username' } as const
export const resetPassword = {
  method: 'POST',
  url: '/v1/admin/users/:username/reset-password',
} as const
export const listUserKeys = { method: 'GET', url: '/v1/admin/users/:username/api-keys' } as const
export const revokeUserKey = {
  method: 'DELETE',
  url: '/v1/admin/users/:username/api-keys/:id',
} as const
export const listInvitations = { method: 'GET', url: '/v1/admin/invitations' } as const
export const createInvitation = { method: 'POST', url: '/v1/admin/invitations' } as const
export const revokeInvitation = { method: 'DELETE', url: '/v1/admin/invitations/:id' } as const
export const listAudit = { method: 'GET', url: '/v1/admin/audit' } as const
