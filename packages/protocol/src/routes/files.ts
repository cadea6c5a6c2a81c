/** The endpoints that describe files. */

export const listFiles = { method: 'GET', url: '/v1/models/:id/files' } as const
export const lookUpFiles = { method: 'POST', url: '/v1/files/lookup' } as const
export const getFile = { method: 'GET', url: '/v1/models/:id/files/:file_id' } as const
