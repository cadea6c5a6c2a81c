import { startThread, terminateThread } from '../start-thread.ts'
import { TroubleError } from '../trouble.ts'
import type { Order, Reply } from './chunk-thread.ts'
import type { ChunkWorker, WorkerSetup } from './chunk-worker.ts'

type Call = { resolve(sha256: string): void; reject(error: unknown): void }
type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never

export function threadChunkWorker(setup: WorkerSetup): ChunkWorker {
  const thread = startThread('chunk-thread', import.meta.url, setup)
  const calls = new Map<number, Call>()
  let lastId = 0
  let failure: unknown

  thread.on('message', (reply: Reply) => {
    const call = calls.get(reply.id)
    calls.delete(reply.id)
    if ('sha256' in reply) call?.resolve(reply.sha256)
    else call?.reject('trouble' in reply ? new TroubleError(reply.trouble) : reply.error)
  })
  thread.on('error', fail)

  /** Whatever was asked and is not answered fails, and whatever will be asked. */
  function fail(error: unknown) {
    failure ??= error
    for (const call of calls.values()) call.reject(failure)
    calls.clear()
  }

  function send(order: WithoutId<Order>, signal?: AbortSignal): Promise<string> {
    if (failure !== undefined) return Promise.reject(failure)
    if (signal?.aborted) return Promise.reject(signal.reason)
    lastId += 1
    const id = lastId
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    calls.set(id, { resolve, reject })
    thread.postMessage({ ...order, id })
    if (signal === undefined) return promise
    const onAbort = () => thread.postMessage({ id, call: 'abort' })
    signal.addEventListener('abort', onAbort)
    return promise.finally(() => signal.removeEventListener('abort', onAbort))
  }

  return {
    fetch: (request, signal) => send({ call: 'fetch', request }, signal),
    check: (chunk) => send({ call: 'check', chunk }),
    async close() {
      fail(new Error('the thread was stopped'))
      await terminateThread(thread)
    },
  }
}
