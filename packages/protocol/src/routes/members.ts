/** The endpoints that share a model with other accounts, or transfer it to another account. */

export const listMembers = { method: 'GET', url: '/v1/models/:id/members' } as const
export const setMember = { method: 'PUT', url: '/v1/models/:id/members/:username' } as const
export const removeMember = { method: 'DELETE', url: '/v1/models/:id/members/:username' } as const
export const transferModel = { method: 'PUT', url: '/v1/models/:id/owner' } as const
