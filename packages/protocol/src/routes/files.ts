/** The endpoints that describe files. */

export const listFiles = {
  method: 'GET',
  url: '/v1/models/:id/files',
  marker: 'id',
  isList: true,
} as const
export const lookUpFiles = {
  method: 'POST',
  url: '/v1/files/lookup',
  isRepeatable: true, // only reads
} as const
export const getFile = {
  method: 'GET',
  url: '/v1/models/:id/files/:file_id',
  marker: 'status',
} as const
