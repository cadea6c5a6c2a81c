import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { plainCard } from './plain-card.ts'
import type { CardOptions } from './shape-card.ts'
import { type CardLimits, type CardProcess, startCardProcess } from './start-card-process.ts'

type Log = { warn(details: object, message: string): void }

export type CardRenderer = {
  /** Renders a card as safe HTML within a few seconds. A card that cannot be rendered is shown as plain text. */
  render(markdown: string, options: CardOptions): Promise<string>
  close(): Promise<void>
}

/** Maximum number of characters. The API accepts only cards that are shorter than this. */
const maxCardLength = 1024 * 1024
const maxWaiting = 32
const maxWaitMs = 4_000
const maxCachedBytes = 32 * 1024 * 1024
/**
 * How long the plain text of a card that failed to render is cached. Rendering may succeed later, when the machine is
 * less busy.
 */
const failureTtlMs = 10 * 60_000
const idleMs = 60_000
const defaultLimits: CardLimits = { renderTimeoutMs: 4_000, heapMb: 256 }

/** Renders one card at a time, in a process that is started on demand and stopped after a minute without requests. */
export function cardRenderer({ log, limits = defaultLimits }: { log: Log; limits?: CardLimits }) {
  const cache = new LRUCache<string, string>({
    maxSize: maxCachedBytes,
    sizeCalculation: (html) => 2 * html.length + 500, // 2 bytes per character, and 500 bytes for the key and objects
  })
  const underWay = new Map<string, Promise<string>>()
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

  /** Renders the card after all earlier ones. If those take too long, the card is shown as plain text. */
  async function renderInTurn(key: string, markdown: string, options: CardOptions) {
    const askedAt = performance.now()
    await last
    const isLate = performance.now() - askedAt > maxWaitMs
    if (isLate || isClosed) return plainCard(markdown)
    try {
      const html = await renderNow(markdown, options)
      cache.set(key, html)
      return html
    } catch (error) {
      log.warn(
        { err: error, model: options.names[0] },
        'could not render a model card; showing it as plain text',
      )
      const html = plainCard(markdown)
      cache.set(key, html, { ttl: failureTtlMs })
      return html
    }
  }

  const renderer: CardRenderer = {
    async render(markdown, options) {
      if (markdown.trim() === '') return ''
      if (markdown.length > maxCardLength) return plainCard(markdown)
      const key = makeKey(markdown, options)
      const known = cache.get(key) ?? underWay.get(key)
      if (known !== undefined) return known
      if (underWay.size >= maxWaiting) return plainCard(markdown)
      const rendered = renderInTurn(key, markdown, options).finally(() => underWay.delete(key))
      underWay.set(key, rendered)
      last = rendered
      return rendered
    },
    async close() {
      isClosed = true
      clearTimeout(idle)
      await endProcess()
    },
  }
  return renderer
}

function makeKey(markdown: string, { images, names }: CardOptions): string {
  return createHash('sha256')
    .update(JSON.stringify([images, names]))
    .update(markdown)
    .digest('base64')
}
