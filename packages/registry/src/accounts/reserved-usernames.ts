/**
 * Usernames that cannot be registered: the possible usernames of the registry's own account, and words that a path or a
 * program may use in the future. The list is deliberately short; it omits `admin`, which many people want for the first
 * account.
 */
const reserved = new Set(['shoal', 'shoal-system', 'system', 'anonymous', 'me'])

export const isReservedUsername = (username: string): boolean => reserved.has(username)
