import { createHash } from 'node:crypto'
import type { Log } from '@shoal/log'
import { LRUCache } from 'lru-cache'
import { plainCard } from './plain-card.ts'
import type { CardOptions } from './shape-card.ts'
import {
  type CardLimits,
  type CardProcess,
  CardTimeoutError,
  startCardProcess,
} from './start-card-process.ts'

export type RenderedCard = {
  /** Safe HTML. */
  html: string
  /**
   * How long to wait before requesting the card again if it is shown as plain text only temporarily; undefined if the
   * result is final.
   */
  retryAfterSeconds: number | undefined
}

export type CardRenderer = {
  /** Resolves within a few seconds. A card that cannot be rendered in that time is shown as plain text. */
  render(markdown: string, options: CardOptions): Promise<RenderedCard>
  close(): Promise<void>
}

type Options = {
  log: Pick<Log, 'warn'>
  limits?: CardLimits
  /**
   * How long a caller waits for a card. After that, the caller gets plain text. Rendering continues, and the result is
   * cached for later callers.
   */
  maxWaitMs?: number
}

/** Maximum number of characters in a card. The API's own limit is lower. */
const maxCardLength = 1024 * 1024
const maxQueued = 32
const maxCachedBytes = 32 * 1024 * 1024
/**
 * How long to show a card as plain text after it has exceeded a limit. Rendering such a card takes up to four seconds
 * of processor time.
 */
const failureTtlMs = 10 * 60_000
const busyRetrySeconds = 5
const idleMs = 60_000
const defaultLimits: CardLimits = { maxCpuMs: 4_000, maxHeapMb: 256, maxElapsedMs: 60_000 }

/** Renders one card at a time, in a process that is started on demand and stopped after a minute without requests. */
export function cardRenderer({ log, limits = defaultLimits, maxWaitMs = 4_000 }: Options) {
  const cache = new LRUCache<string, RenderedCard>({
    maxSize: maxCachedBytes,
    sizeCalculation: ({ html }) => 2 * html.length + 500, // 2 bytes per character, and 500 bytes for the key and objects
  })
  const queued = new Map<string, Promise<RenderedCard>>()
  let last: Promise<unknown> = Promise.resolve()
  let running: CardProcess | undefined
  let idle: NodeJS.Timeout | undefined
  let isClosed = false

  async function renderNow(markdown: string, options: CardOptions): Promise<string> {
    clearTimeout(idle)
    if (!running || running.hasEnded) running = startCardProcess(limits)
    try {
      return await running.render({ markdown, options })
    } finally {
      idle = setTimeout(endProcess, idleMs).unref()
    }
  }

  async function endProcess() {
    const ending = running
    running = undefined
    await ending?.end()
  }

  /** Renders the card after all earlier ones. */
  async function renderInTurn(key: string, markdown: string, options: CardOptions) {
    await last
    if (isClosed) return busyCard(markdown)
    try {
      const card = toFinal(await renderNow(markdown, options))
      cache.set(key, card)
      return card
    } catch (error) {
      log.warn(
        { err: error, model: options.names[0] },
        'could not render a model card; showing it as plain text',
      )
      if (error instanceof CardTimeoutError) return busyCard(markdown)
      const html = plainCard(markdown, 'failed')
      const hasExceededLimit = running?.hasEnded !== false
      const card = hasExceededLimit
        ? { html, retryAfterSeconds: failureTtlMs / 1000 }
        : toFinal(html)
      cache.set(key, card, hasExceededLimit ? { ttl: failureTtlMs } : {})
      return card
    }
  }

  function enqueue(key: string, markdown: string, options: CardOptions) {
    const card = renderInTurn(key, markdown, options).finally(() => queued.delete(key))
    queued.set(key, card)
    last = card
    return card
  }

  const renderer: CardRenderer = {
    async render(markdown, options) {
      if (markdown.trim() === '') return toFinal('')
      if (markdown.length > maxCardLength) return toFinal(plainCard(markdown, 'failed'))
      const key = makeKey(markdown, options)
      const known = cache.get(key)
      if (known) return known
      const isFull = queued.size >= maxQueued && !queued.has(key)
      if (isFull) return busyCard(markdown)
      const card = queued.get(key) ?? enqueue(key, markdown, options)
      return (await within(maxWaitMs, card)) ?? busyCard(markdown)
    },
    async close() {
      isClosed = true
      clearTimeout(idle)
      await endProcess()
    },
  }
  return renderer
}

const toFinal = (html: string): RenderedCard => ({ html, retryAfterSeconds: undefined })

const busyCard = (markdown: string): RenderedCard => ({
  html: plainCard(markdown, 'busy'),
  retryAfterSeconds: busyRetrySeconds,
})

/** Resolves with undefined if `work` takes longer than `timeoutMs`. */
async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T | undefined> {
  const timeout = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => timeout.resolve(undefined), timeoutMs)
  return Promise.race([work, timeout.promise]).finally(() => clearTimeout(timer))
}

function makeKey(markdown: string, { images, names }: CardOptions): string {
  return createHash('sha256')
    .update(JSON.stringify([images, names]))
    .update(markdown)
    .digest('base64')
}
