/**
 * Usernames that cannot be registered: those of the registry's own account, which publishes the demo models, and words
 * that a path or program may use one day, such as `me`. Short on purpose: many first administrators want `admin`.
 */
const reserved = new Set(['shoal', 'shoal-system', 'system', 'anonymous', 'me'])

export const isReservedUsername = (username: string): boolean => reserved.has(username)
