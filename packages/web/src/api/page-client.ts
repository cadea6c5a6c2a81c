import { accountCalls, type Connection, fileCalls, modelCalls } from '@shoal/protocol/client'

/** The calls that most screens make. The others are loaded on demand: see `useCalls`. */
export type PageClient = ReturnType<typeof pageClient>

export const pageClient = (connection: Connection) => ({
  ...modelCalls(connection),
  ...fileCalls(connection),
  ...accountCalls(connection),
})
