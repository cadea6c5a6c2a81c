/** The endpoints that upload files. */

export const startUpload = { method: 'POST', url: '/v1/models/:id/files' } as const
export const reserveUpload = { method: 'POST', url: '/v1/models/:id/uploads' } as const
export const declareChunks = {
  method: 'POST',
  url: '/v1/models/:id/files/:file_id/chunks',
} as const
export const getUpload = { method: 'GET', url: '/v1/models/:id/files/:file_id/upload' } as const
export const completeUpload = {
  method: 'POST',
  url: '/v1/models/:id/files/:file_id/complete',
} as const
