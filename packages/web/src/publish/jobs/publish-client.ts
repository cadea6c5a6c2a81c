import { type Connection, editCalls, modelCalls } from '@shoal/protocol/client'

/** The calls that start a job. The others are loaded when the job runs or is discarded. */
export type PublishClient = ReturnType<typeof publishClient>

export const publishClient = (connection: Connection) => ({
  connection,
  ...modelCalls(connection),
  ...editCalls(connection),
})
