/** The URL parameters of the audit log, which are its filters. */
export type AuditSearch = { actor?: string; action?: string; subject?: string }

/** Values are converted to text, because the username 42 is parsed as a number. */
export const readAuditSearch = (given: Record<string, unknown>): AuditSearch =>
  Object.fromEntries(
    ['actor', 'action', 'subject']
      .filter((name) => given[name])
      .map((name) => [name, String(given[name])]),
  )
