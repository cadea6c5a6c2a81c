/**
 * Usernames that cannot be registered: those of the registry's own account, which publishes the demo models, and words that a
 * path or a program may one day use for the caller or for nobody in particular. Short on purpose: `admin` is the name that
 * many a first administrator wants.
 */
const reserved = new Set(['shoal', 'shoal-system', 'system', 'anonymous', 'me'])

export const isReservedUsername = (username: string): boolean => reserved.has(username)
