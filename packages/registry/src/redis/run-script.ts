import { createHash } from 'node:crypto'
import type { Redis } from 'ioredis'

type Argument = string | number

/** Runs a Lua script with a single key. Redis caches the script after the first call. */
export type RunScript<Result> = (redis: Redis, key: string, args: Argument[]) => Promise<Result>

export function script<Result>(text: string): RunScript<Result> {
  const hash = createHash('sha1').update(text).digest('hex')
  return async (redis, key, args) => {
    try {
      return (await redis.evalsha(hash, 1, key, ...args)) as Result
    } catch (error) {
      // Redis has not run the script before, or has lost it in a restart.
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
      return (await redis.eval(text, 1, key, ...args)) as Result
    }
  }
}
