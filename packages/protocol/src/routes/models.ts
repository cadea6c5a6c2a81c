/** The endpoints that read and like models, and read users' public profiles. */

export const listModels = { method: 'GET', url: '/v1/models', marker: 'id', isList: true } as const
export const getModel = { method: 'GET', url: '/v1/models/:id', marker: 'name' } as const
export const getCard = { method: 'GET', url: '/v1/models/:id/card' } as const
export const toggleLike = {
  method: ['POST', 'DELETE'] as ('POST' | 'DELETE')[],
  url: '/v1/models/:id/like',
  isRepeatable: false, // a second request would undo the first
} as const
export const setLike = { method: 'PUT', url: '/v1/models/:id/like' } as const
export const getFacets = { method: 'GET', url: '/v1/facets' } as const
export const getReleases = { method: 'GET', url: '/v1/releases', isAnonymous: true } as const
export const getStats = { method: 'GET', url: '/v1/stats' } as const
export const getUser = { method: 'GET', url: '/v1/users/:username' } as const
