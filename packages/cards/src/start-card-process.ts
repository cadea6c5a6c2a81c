import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { childPort, openRpc, type ProcessEnd } from '@shoal/core/rpc'
import { ThreadLimitError, type ThreadLimits } from '@shoal/threads'
import type { CardMethods } from './card-process.ts'
import type { CardQuestion } from './card-thread.ts'

export type CardProcess = {
  /**
   * Renders a card. Must not be called again until the returned promise has settled. Rejects with a `CardTimeoutError`
   * if the machine is too busy, and with another error if the card cannot be rendered. The process may then have ended.
   */
  render(question: CardQuestion): Promise<string>
  readonly hasEnded: boolean
  /** Undefined if the process could not be started. */
  readonly pid: number | undefined
  end(): Promise<void>
}

/** Limits for rendering a card. */
export type CardLimits = ThreadLimits & {
  /**
   * Maximum elapsed time in ms, including the start of the process. Much longer than `maxCpuMs`, so that this limit is
   * reached only if the process gets hardly any processor time.
   */
  maxElapsedMs: number
}

/** A card was not rendered in time even though it had not exceeded its limits, so a later attempt may succeed. */
export class CardTimeoutError extends Error {
  override name = 'CardTimeoutError'
}

const stderrLength = 2_000
/** Heap limit of the process's main thread, which only forwards cards and HTML. */
const mainHeapMb = 64

/**
 * Starts a process that renders cards. If cards were rendered in a thread of the registry, a card that needed too much
 * memory would crash the registry (see decision 0014).
 */
export function startCardProcess({ maxElapsedMs, ...limits }: CardLimits): CardProcess {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const path = fileURLToPath(new URL(`./card-process.${extension}`, import.meta.url))
  const child = fork(path, [JSON.stringify(limits)], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced',
    env: {}, // the process needs no environment variables, and must not see secrets
    execArgv: [`--max-old-space-size=${mainHeapMb}`, '--max-semi-space-size=8'],
  })
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(0, stderrLength)
  })
  const toError = ({ code, how }: ProcessEnd) =>
    new Error(`the card process ${code === null ? how : `${how}: ${stderr}`}`)
  const rpc = openRpc<CardMethods>(childPort(child, toError))

  function kill(reason: Error) {
    rpc.close(reason)
    child.kill('SIGKILL')
  }

  return {
    async render(question) {
      const timer = setTimeout(
        () => kill(new CardTimeoutError(`the card was not rendered within ${maxElapsedMs} ms`)),
        maxElapsedMs,
      )
      try {
        return await rpc.call('render', question)
      } catch (error) {
        // An error from another process has the name of its class, but is not an instance of the class. The thread may
        // still be running: it cannot be terminated during a search in a long string, for example.
        if (error instanceof Error && error.name === ThreadLimitError.name) kill(error)
        throw error
      } finally {
        clearTimeout(timer)
      }
    },
    get hasEnded() {
      return rpc.isClosed
    },
    pid: child.pid,
    async end() {
      const isRunning = child.pid !== undefined && (child.exitCode ?? child.signalCode) === null
      if (!isRunning) return
      const exited = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await exited
    },
  }
}
