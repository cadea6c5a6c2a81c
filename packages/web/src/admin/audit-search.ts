/** The URL parameters of the audit log: its filters. */
export type AuditSearch = { actor?: string; action?: string; subject?: string }

/** Converts values to text, because the router parses a username such as 42 as a number. */
export const readAuditSearch = (given: Record<string, unknown>): AuditSearch =>
  Object.fromEntries(
    ['actor', 'action', 'subject']
      .filter((name) => given[name])
      .map((name) => [name, String(given[name])]),
  )
