/** The endpoints that create an account, sign in and out, and describe the caller’s account. */

export const getRegistry = {
  method: 'GET',
  url: '/v1/registry',
  isAnonymous: true,
  marker: 'registration_open',
} as const
export const register = {
  method: 'POST',
  url: '/v1/auth/register',
  isAnonymous: true,
  marker: 'access_token',
} as const
export const login = {
  method: 'POST',
  url: '/v1/auth/login',
  isAnonymous: true,
  marker: 'access_token',
} as const
export const logout = { method: 'POST', url: '/v1/auth/logout' } as const
export const getMe = { method: 'GET', url: '/v1/auth/me', marker: 'username' } as const
