import type { SharedState } from './open-redis.ts'
import { script } from './run-script.ts'

export type SharedCount = {
  count: number
  /** Time until the count starts again at zero. */
  msLeft: number
}

const add = script<[number, number]>(`
local count = redis.call('INCRBY', KEYS[1], ARGV[2])
if count == tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return {count, redis.call('PTTL', KEYS[1])}
`)

/**
 * Adds `added` to the key's count in the current time window. The first addition starts a window of `windowMs`, and all
 * nodes share the count. Resolves to the new count. Rejects if Redis does not respond.
 */
export async function addShared(
  { redis, prefix }: Pick<SharedState, 'redis' | 'prefix'>,
  key: string,
  windowMs: number,
  added = 1,
): Promise<SharedCount> {
  const [count, msLeft] = await add(redis, `${prefix}limit:${key}`, [windowMs, added])
  return { count, msLeft }
}
