/** Whether a statement failed because another row has the same value in a unique column. */
export function isUniqueViolation(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const isOfPostgres = 'code' in error && error.code === '23505'
  const isOfSqlite = 'errcode' in error && error.errcode === 2067 // SQLITE_CONSTRAINT_UNIQUE
  return isOfPostgres || isOfSqlite
}
