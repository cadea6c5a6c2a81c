import {
  type ErrorMessage,
  errorOfMessage,
  messageOfError,
  pickCloneable,
} from './error-message.ts'
import type { Port } from './ports.ts'

/** Declared here, because the core package imports nothing from Node. */
declare function setImmediate(callback: () => void): unknown

/**
 * The methods that one side implements. Each method takes at most one value, and optionally a signal that aborts when
 * the result is no longer needed. A method returns a value, or an async generator; the generator's items are sent as
 * they are produced.
 */
export type Methods = Record<string, (argument: never, signal: AbortSignal) => unknown>

type Name<M> = keyof M & string
type Asked<M, K extends keyof M> = M[K] extends (...args: infer A) => unknown ? A : never
type Answered<M, K extends keyof M> = M[K] extends (...args: never[]) => infer R ? R : never

/** Calls a method without waiting for it. If the method throws, the error is uncaught on the other side. */
export type Notify<Theirs> = <K extends Name<Theirs>>(method: K, ...asked: Asked<Theirs, K>) => void

export type Rpc<Theirs> = {
  /**
   * Settles when the method does, even after an abort. Once the call has settled, the other side has stopped working on
   * it. After an abort, rejects with the signal's reason, unless the method succeeded or failed for another reason. If
   * the method fails, rejects with a copy of its error. The copy has the error's name, message, stack, cause, and
   * properties such as `code` and `details`, but not its class.
   */
  call<K extends Name<Theirs>>(
    method: K,
    ...asked: Asked<Theirs, K>
  ): Promise<Awaited<Answered<Theirs, K>>>
  /**
   * Yields the items of the other side's generator, and returns the generator's return value. Aborting or leaving this
   * stream ends it immediately, and ends the other side's generator.
   */
  stream<K extends Name<Theirs>>(method: K, ...asked: Asked<Theirs, K>): Answered<Theirs, K>
  notify: Notify<Theirs>
  /** Resolves when the other side has loaded and has opened its end. Rejects if the other side ends first. */
  ready: Promise<void>
  /**
   * Closes the connection: all pending and later calls fail, and later messages are ignored. The connection also closes
   * when the other side ends.
   */
  close(reason: Error): void
  readonly isClosed: boolean
}

type Call = { id?: number; method: string; argument: unknown }
type Item = { id: number; item: unknown }
type Answer = { id: number } & ({ error: ErrorMessage } | { result: unknown })
type Message = Call | Answer | { items: Item[] } | { id: number; abort: true } | { ready: true }

type Outcome = { item: unknown } | { error: unknown } | { result: unknown }

/** Opens one end of a connection. `ours` contains the methods that the other side may call. */
export function openRpc<Theirs>(port: Port, ours: Methods = {}): Rpc<Theirs> {
  const pending = new Map<number, (outcome: Outcome) => void>()
  const running = new Map<number, AbortController>()
  let unsent: Item[] = []
  const ready = Promise.withResolvers<void>()
  ready.promise.catch(() => undefined) // `ready` may have no listener
  let closed: { reason: Error } | undefined
  let lastId = 0

  port.onMessage((message) => {
    if (typeof message === 'object' && message !== null) receive(message as Message)
  })
  port.onClose((reason) => {
    close(reason)
    ready.reject(closed?.reason)
  })
  port.post({ ready: true })

  function receive(message: Message) {
    if ('ready' in message) ready.resolve()
    else if (closed) return
    else if ('method' in message) handle(message)
    else if ('items' in message) {
      for (const item of message.items) pending.get(item.id)?.(item)
    } else if ('abort' in message) running.get(message.id)?.abort()
    else if ('error' in message) pending.get(message.id)?.({ error: errorOfMessage(message.error) })
    else pending.get(message.id)?.(message)
  }

  async function handle({ id, method, argument }: Call) {
    const abort = new AbortController()
    if (id === undefined) return hears(method) && work(method, argument, abort.signal)
    running.set(id, abort)
    try {
      const answer = await work(method, argument, abort.signal)
      const onItem = (item: unknown) => postSoon({ id, item })
      const result = isGenerator(answer) ? await drain(answer, onItem, abort.signal) : answer
      post({ id, result })
    } catch (error) {
      postError(id, error)
    } finally {
      running.delete(id)
    }
  }

  async function work(method: string, argument: unknown, signal: AbortSignal): Promise<unknown> {
    if (!hears(method)) throw new Error(`unknown method: ${method}`)
    return ours[method]?.(argument as never, signal)
  }

  /** Unknown notifications are ignored, just as events without a listener are. */
  const hears = (method: string) => Object.hasOwn(ours, method)

  function post(message: Message) {
    postItems()
    if (!closed) port.post(message)
  }

  /**
   * Sends an item together with all other items from this turn of the event loop, because each message to another
   * process costs both processes several system calls.
   */
  function postSoon(item: Item) {
    unsent.push(item)
    if (unsent.length === 1) setImmediate(postItems)
  }

  function postItems() {
    if (unsent.length === 0) return
    const items = unsent
    unsent = []
    if (closed) return
    try {
      port.post({ items })
    } catch {
      for (const item of items) postAlone(item)
    }
  }

  /** Sends an item. If it cannot be cloned, its stream fails. */
  function postAlone(item: Item) {
    try {
      port.post({ items: [item] })
    } catch (error) {
      postError(item.id, error)
      running.get(item.id)?.abort()
    }
  }

  function postError(id: number, error: unknown) {
    const message = messageOfError(error)
    try {
      post({ id, error: message })
    } catch (uncloneable) {
      // Part of the error cannot be cloned. Send the rest of it, and the reason as its cause.
      const own = pickCloneable(message.own)
      post({ id, error: { ...message, own, cause: messageOfError(String(uncloneable)) } })
    }
  }

  /** Sends a call; `onOutcome` receives every reply. Returns a function that ends the call. */
  function ask(
    [method, argument, signal]: Asking,
    { onOutcome, onAbort }: { onOutcome(outcome: Outcome): void; onAbort?(): void },
  ) {
    signal?.throwIfAborted()
    if (closed) throw closed.reason
    lastId += 1
    const id = lastId
    const abort = () => {
      post({ id, abort: true })
      onAbort?.()
    }
    port.post({ id, method, argument })
    pending.set(id, onOutcome)
    signal?.addEventListener('abort', abort)
    return (isOver: boolean) => {
      pending.delete(id)
      signal?.removeEventListener('abort', abort)
      if (!isOver && !signal?.aborted) post({ id, abort: true })
    }
  }

  async function call(...asking: Asking) {
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    const forget = ask(asking, { onOutcome: resolve })
    const outcome = await promise
    forget(true)
    if ('error' in outcome) {
      const signal = asking[2]
      throw signal?.aborted && isAbort(outcome.error) ? signal.reason : outcome.error
    }
    return 'result' in outcome ? outcome.result : undefined
  }

  async function* stream(...asking: Asking) {
    const [, , signal] = asking
    const arrived: Outcome[] = []
    let wake: (() => void) | undefined
    let isOver = false
    const onOutcome = (outcome: Outcome) => {
      arrived.push(outcome)
      wake?.()
    }
    const forget = ask(asking, { onOutcome, onAbort: () => wake?.() })
    try {
      for (;;) {
        signal?.throwIfAborted()
        const outcome = arrived.shift()
        if (outcome === undefined) {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        } else if ('item' in outcome) yield outcome.item
        else {
          isOver = true
          if ('error' in outcome) throw outcome.error
          return outcome.result
        }
      }
    } finally {
      forget(isOver)
    }
  }

  function close(reason: Error) {
    if (closed) return
    closed = { reason }
    for (const settle of pending.values()) settle({ error: reason })
    for (const abort of running.values()) abort.abort()
  }

  const rpc = {
    call,
    stream,
    notify: (method: string, argument: unknown) => post({ method, argument }),
    ready: ready.promise,
    close,
    get isClosed() {
      return closed !== undefined
    },
  }
  return rpc as unknown as Rpc<Theirs>
}

type Asking = [method: string, argument?: unknown, signal?: AbortSignal]

type Generator = AsyncGenerator<unknown, unknown>

const isGenerator = (value: unknown): value is Generator =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value

/**
 * Passes each item of a generator to `onItem`, and returns the generator's return value. An abort ends the generator.
 */
async function drain(items: Generator, onItem: (item: unknown) => void, signal: AbortSignal) {
  try {
    let step = await items.next()
    for (; !step.done; step = await items.next()) {
      signal.throwIfAborted()
      onItem(step.value)
    }
    return step.value
  } finally {
    await items.return(undefined)
  }
}

const isAbort = (error: unknown) => error instanceof Error && error.name === 'AbortError'
