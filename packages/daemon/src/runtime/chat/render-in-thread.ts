import { setTimeout as sleep } from 'node:timers/promises'
import { startThread, type Thread, terminateThread } from '@shoal/threads'
import type { RenderChat } from './chat-prompt.ts'
import { templateLimitError } from './jinja/template-limit.ts'
import type { ChatTemplate, ChatToPrint } from './render-chat.ts'
import type { RenderMethods } from './render-thread.ts'

/** Limits for rendering one chat. The defaults are far above what the largest chats need. */
export type RenderLimits = {
  /** Default: 10,000 ms of processor time. */
  maxCpuMs?: number
  /** Default: 512 MiB for the values of the template. */
  maxHeapMb?: number
}

/** How often the processor time of the thread is checked. */
const checkMs = 250

/**
 * Renders chats in a thread, one after another. Templates come from strangers, and some may run forever or need all
 * memory. If a template exceeds a limit, its thread is ended, the request fails, and the next chat is rendered in a new
 * thread. Meanwhile, this thread continues to answer other requests.
 */
export function renderInThread(
  template: ChatTemplate,
  { maxCpuMs = 10_000, maxHeapMb = 512 }: RenderLimits = {},
): RenderChat {
  let thread: Thread<RenderMethods> | undefined
  /** Resolves when the previous chat has been rendered. */
  let previous: Promise<unknown> = Promise.resolve()

  function start(): Thread<RenderMethods> {
    const started = startThread<RenderMethods>('render-thread', import.meta.url, template, {
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: 16 },
    })
    started.worker.unref() // an idle thread does not keep the process running
    started.worker.on('error', () => undefined) // the pending call rejects with the same error
    return started
  }

  async function render(chat: ChatToPrint): Promise<string> {
    if (!thread || thread.rpc.isClosed) thread = start()
    const watch = watchCpu(thread, maxCpuMs)
    try {
      return await thread.rpc.call('render', chat)
    } catch (error) {
      if (watch.isOver())
        throw templateLimitError(`it takes more than ${maxCpuMs / 1000} s of processor time`)
      if (isOutOfMemory(error))
        throw templateLimitError(`it needs more than ${maxHeapMb} MiB of memory`)
      throw error
    } finally {
      watch.stop()
    }
  }

  return (chat) => {
    const result = previous.then(() => render(chat))
    previous = result.catch(() => undefined) // the caller handles the error
    return result
  }
}

/** Terminates a thread when it has used too much processor time since this call. */
function watchCpu(thread: Thread<unknown>, maxCpuMs: number) {
  const stop = new AbortController()
  let isOver = false

  async function watch() {
    let startMs: number | undefined
    for (;;) {
      await sleep(checkMs, undefined, { signal: stop.signal })
      const { user, system } = await thread.worker.cpuUsage()
      const cpuMs = (user + system) / 1000
      startMs ??= cpuMs
      isOver = !stop.signal.aborted && cpuMs - startMs > maxCpuMs
      if (isOver) return terminateThread(thread)
    }
  }

  watch().catch(() => undefined) // the call has ended, or the thread, and then the call rejects with the reason
  return { isOver: () => isOver, stop: () => stop.abort() }
}

const isOutOfMemory = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
