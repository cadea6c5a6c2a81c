import {
  type Connection,
  editCalls,
  fileCalls,
  modelCalls,
  uploadCalls,
} from '@shoal/protocol/client'

/** The calls that start and discard a job. */
export type PublishClient = ReturnType<typeof publishClient>

export const publishClient = (connection: Connection) => ({
  connection,
  ...modelCalls(connection),
  ...editCalls(connection),
  ...fileCalls(connection),
  ...uploadCalls(connection),
})
