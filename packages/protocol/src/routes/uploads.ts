/** The endpoints that upload files. Each POST can be repeated: it resumes what an earlier one has started. */

export const startUpload = {
  method: 'POST',
  url: '/v1/models/:id/files',
  isRepeatable: true,
  marker: 'upload',
} as const
export const reserveUpload = {
  method: 'POST',
  url: '/v1/models/:id/uploads',
  isRepeatable: true,
} as const
export const declareChunks = {
  method: 'POST',
  url: '/v1/models/:id/files/:file_id/chunks',
  isRepeatable: true,
} as const
export const getUpload = {
  method: 'GET',
  url: '/v1/models/:id/files/:file_id/upload',
  marker: 'missing_chunks',
} as const
export const completeUpload = {
  method: 'POST',
  url: '/v1/models/:id/files/:file_id/complete',
  isRepeatable: true,
  marker: 'status',
} as const
