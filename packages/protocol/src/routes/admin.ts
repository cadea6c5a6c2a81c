/** The endpoints for administrators. */

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
export const getStatus = { method: 'GET', url: '/v1/admin/status' } as const
