/** Redis, in which nodes share data that may be lost: torrents' peers and rate-limit counters. */
import { Redis } from 'ioredis'
import { throttle } from '../throttle.ts'

export type Log = {
  info(details: object, message: string): void
  warn(details: object, message: string): void
}

/** Data that nodes share in Redis. While Redis does not respond, each node uses its own data. */
export interface SharedState {
  redis: Redis
  /** The prefix of this registry's keys and channels. It is needed because several registries may use one Redis. */
  prefix: string
  /**
   * Runs `onRedis`. If that fails, for example because Redis does not respond within the command timeout, runs
   * `onThisNode`. While Redis fails, only one call at a time tries Redis again, and all other calls use `onThisNode`
   * immediately.
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

/** Connects to Redis. If Redis does not respond, the registry starts anyway, and uses Redis once it responds. */
export async function openRedis(
  url: string,
  { prefix, log }: { prefix: string; log: Log },
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
  let nextProbeAt = 0
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
    nextProbeAt = performance.now() + probeIntervalMs
  }

  function recover() {
    if (isFailing) log.info({}, 'Redis responds again')
    isFailing = false
  }

  await new Promise<void>((resolve) => {
    redis.once('ready', resolve).once('close', resolve)
  })

  /** Whether a call may use Redis. While Redis fails, only one call at a time may try. */
  function mayAsk(): boolean {
    if (redis.status !== 'ready') return false
    return !isFailing || (!isProbing && performance.now() >= nextProbeAt)
  }

  return {
    redis,
    prefix,
    isGone: () => isFailing || redis.status !== 'ready',

    async use(onRedis, onThisNode) {
      if (!mayAsk()) return onThisNode()
      isProbing = isFailing
      try {
        const result = await onRedis()
        recover()
        return result
      } catch (error) {
        fail(error)
        return onThisNode()
      } finally {
        isProbing = false
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
