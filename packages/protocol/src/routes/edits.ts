/** The endpoints that create, change and delete models, and delete files. */

export const createModel = { method: 'POST', url: '/v1/models', marker: 'name' } as const
export const updateModel = { method: 'PATCH', url: '/v1/models/:id' } as const
export const deleteModel = { method: 'DELETE', url: '/v1/models/:id' } as const
export const renderCard = { method: 'POST', url: '/v1/cards', isRepeatable: true } as const // only reads
export const deleteFile = { method: 'DELETE', url: '/v1/models/:id/files/:file_id' } as const
