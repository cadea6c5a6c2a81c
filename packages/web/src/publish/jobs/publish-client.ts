import { type Connection, editCalls, modelCalls } from '@shoal/protocol/client'

/** The calls that start and discard a job. The others are loaded when the job runs. */
export type PublishClient = ReturnType<typeof publishClient>

export const publishClient = (connection: Connection) => ({
  connection,
  ...modelCalls(connection),
  ...editCalls(connection),
})
