/** Redis, in which nodes share data that may be lost: torrents' peers and rate-limit counters. */
import { setTimeout as sleep } from 'node:timers/promises'
import { throttle } from '@shoal/core/async'
import type { Log } from '@shoal/log'
import { Redis } from 'ioredis'
import { script } from './run-script.ts'

/** Data that nodes share in Redis. While Redis does not respond, each node uses its own data. */
export interface SharedState {
  redis: Redis
  /** The prefix of this registry's keys and channels. It is needed because several registries may use one Redis. */
  prefix: string
  /**
   * Runs `onRedis`. If that fails, for example because Redis does not respond within the command timeout, runs
   * `onThisNode`. Until Redis responds again, all other calls run `onThisNode` immediately.
   */
  use<T>(onRedis: () => Promise<T>, onThisNode: () => T | Promise<T>): Promise<T>
  isGone(): boolean
  /** Calls `listener` with each message that is published on this channel while Redis responds. */
  subscribe(channel: string, listener: (message: string) => void): void
  close(): void
}

/** Longer than a busy Redis needs to respond, but short enough not to delay requests much. */
const commandTimeoutMs = 1_000
const connectTimeoutMs = 3_000
const maxRetryDelayMs = 1_000
/** How long to wait after an error before Redis is tried again. */
const probeIntervalMs = 500
const minWarningIntervalMs = 60_000

/** Fails for every reason for which the other scripts would fail, for example if Redis is a read-only replica. */
const probe = script<'OK'>("return redis.call('set', KEYS[1], '', 'px', 1000)")

/** Connects to Redis. If Redis does not respond, the registry starts anyway, and uses Redis once it responds. */
export async function openRedis(
  url: string,
  { prefix, log }: { prefix: string; log: Pick<Log, 'info' | 'warn'> },
): Promise<SharedState> {
  const options = {
    commandTimeout: commandTimeoutMs,
    connectTimeout: connectTimeoutMs,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    retryStrategy: (attempt: number) =>
      Math.min(2 ** attempt * 50, maxRetryDelayMs) * (0.5 + Math.random() / 2),
  }
  const redis = new Redis(url, options)
  const opened = [redis]
  let isClosed = false
  let isFailing = false
  let isProbing = false
  const warn = throttle(minWarningIntervalMs, (error: unknown) =>
    log.warn(
      { err: error },
      'Redis does not respond: until it does, this node uses its own swarms and rate limits',
    ),
  )

  redis.on('error', fail)
  redis.on('close', () => fail(new Error('the connection was closed')))
  redis.on('ready', recover)

  function fail(error: unknown) {
    if (isClosed) return
    if (!isFailing) warn(error)
    isFailing = true
    void untilResponding()
  }

  /** Tries Redis repeatedly, because there may be no other calls on an idle node that show that it responds again. */
  async function untilResponding() {
    if (isProbing) return
    isProbing = true
    while (isFailing && !isClosed) {
      await sleep(probeIntervalMs, undefined, { ref: false })
      if (redis.status === 'ready') await probe(redis, `${prefix}probe`, []).then(recover, fail)
    }
    isProbing = false
  }

  function recover() {
    if (isFailing) log.info({}, 'Redis responds again')
    isFailing = false
  }

  await new Promise<void>((resolve) => {
    redis.once('ready', resolve).once('close', resolve)
  })

  const isGone = () => isFailing || redis.status !== 'ready'

  return {
    redis,
    prefix,
    isGone,

    async use(onRedis, onThisNode) {
      if (isGone()) return onThisNode()
      try {
        return await onRedis()
      } catch (error) {
        fail(error)
        return onThisNode()
      }
    },

    subscribe(channel, listener) {
      const subscriber = redis.duplicate({ autoResubscribe: false })
      opened.push(subscriber)
      subscriber.on('error', fail)
      subscriber.on('ready', () => subscriber.subscribe(channel).catch(fail))
      subscriber.on('message', (_channel, message) => listener(message))
    },

    close() {
      isClosed = true
      for (const connection of opened) connection.disconnect()
    },
  }
}
