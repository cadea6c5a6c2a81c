/**
 * Usernames that cannot be registered: those of the registry's own account, which publishes the demo models, and words
 * that a path or a program may use in the future, such as `me`. The list is deliberately short; it omits `admin`, which
 * many people want for the first account.
 */
const reserved = new Set(['shoal', 'shoal-system', 'system', 'anonymous', 'me'])

export const isReservedUsername = (username: string): boolean => reserved.has(username)
