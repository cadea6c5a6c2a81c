import pg from 'pg'
import { ConfigError } from '../errors.ts'
import { isUnavailable } from '../unavailable.ts'
import { type DatabaseRecord, describeDatabase } from './database-record.ts'

/**
 * Converts an error that occurred while the database was opened and migrated. The new error contains the name of the
 * database and of the setting that specifies it. Returns errors that are not the database's unchanged.
 */
export function explainDatabase(error: unknown, database: DatabaseRecord, path: string): unknown {
  if (!(error instanceof Error)) return error
  if (database.engine === 'sqlite') {
    if (!('errcode' in error)) return error
    return new ConfigError(`the database ${path} cannot be opened: ${error.message}`, {
      cause: error,
    })
  }
  const problem = error instanceof pg.DatabaseError ? problems[error.code ?? ''] : undefined
  if (!(error instanceof pg.DatabaseError || isUnavailable(error))) return error
  // Node groups the errors for several addresses, without a message of their own.
  const { message } = error instanceof AggregateError ? (error.errors[0] as Error) : error
  const what = `${describeDatabase(database)} (DATABASE_URL)`
  const isRefusal = error instanceof pg.DatabaseError
  return new ConfigError(
    `${what} ${problem ?? (isRefusal ? 'cannot be used' : 'cannot be reached')}: ${message}`,
    { cause: error },
  )
}

/** By SQLSTATE (PostgreSQL documentation, appendix A). */
const problems: Record<string, string> = {
  '28000': 'refuses the connection',
  '28P01': 'refuses the username or the password',
  '3D000': 'has not been created',
  '53300': 'accepts no more connections',
  '57P03': 'accepts no connections yet',
}
