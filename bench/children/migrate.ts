/** Migrates a database on request, and reports how long the migration took. */
import { once } from 'node:events'
import { connect, type DatabaseConfig } from '../../packages/registry/src/database/connect.ts'
import { answer, readInput } from './child.ts'

export type Migrated = { ms: number }

const input = await readInput<Pick<DatabaseConfig, 'databaseUrl' | 'dataDirectory'>>()
const asked = once(process, 'message')
await answer('ready')
await asked
const startedAt = performance.now()
const connection = await connect({ ...input, onConnectionLost: () => undefined })
const migrated: Migrated = { ms: performance.now() - startedAt }
await connection.close()
await answer(migrated)
process.disconnect()
