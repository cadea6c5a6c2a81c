/** The endpoints for the caller’s password, sessions and API keys. */

export const changePassword = { method: 'PUT', url: '/v1/auth/password' } as const
export const listSessions = { method: 'GET', url: '/v1/auth/sessions' } as const
export const deleteSession = { method: 'DELETE', url: '/v1/auth/sessions/:id' } as const
export const createApiKey = { method: 'POST', url: '/v1/api-keys' } as const
export const listApiKeys = { method: 'GET', url: '/v1/api-keys' } as const
export const deleteApiKey = { method: 'DELETE', url: '/v1/api-keys/:id' } as const
