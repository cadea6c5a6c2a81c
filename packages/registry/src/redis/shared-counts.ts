import type { SharedState } from './open-redis.ts'
import { script } from './run-script.ts'

export type SharedCount = {
  count: number
  /** When the count starts again at zero. */
  msLeft: number
}

const add = script<[number, number]>(`
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return {count, redis.call('PTTL', KEYS[1])}
`)

/** Counts by key in fixed windows of time, over all nodes. Rejects if Redis does not respond. */
export async function addShared(
  { redis, prefix }: Pick<SharedState, 'redis' | 'prefix'>,
  key: string,
  windowMs: number,
): Promise<SharedCount> {
  const [count, msLeft] = await add(redis, `${prefix}limit:${key}`, [windowMs])
  return { count, msLeft }
}
