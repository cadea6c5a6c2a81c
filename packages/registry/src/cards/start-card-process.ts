import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { childPort, openRpc, type ProcessEnd } from '@shoal/core/rpc'
import type { CardMethods, CardQuestion } from './card-process.ts'

export type CardProcess = {
  /**
   * Renders a card. Must not be called again until the returned promise has settled. Rejects if the card cannot be
   * rendered; in this case, the process may have ended.
   */
  render(question: CardQuestion): Promise<string>
  readonly hasEnded: boolean
  end(): Promise<void>
}

export type CardLimits = { renderTimeoutMs: number; heapMb: number }

const startTimeoutMs = 10_000
const stderrLength = 2_000

/**
 * Starts a process that renders cards. In a thread, a card that needs too much memory would crash the registry (see
 * decision 0014).
 */
export function startCardProcess({ renderTimeoutMs, heapMb }: CardLimits): CardProcess {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const child = fork(fileURLToPath(new URL(`./card-process.${extension}`, import.meta.url)), {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced',
    env: {}, // the process needs no environment variables, and must not see secrets
    // A card's objects are short-lived. A larger semi-space would save little time and use 100 MB.
    execArgv: [`--max-old-space-size=${heapMb}`, '--max-semi-space-size=8'],
  })
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(0, stderrLength)
  })
  const toError = ({ code, how }: ProcessEnd) =>
    new Error(`the card process ${code === null ? how : `${how}: ${stderr}`}`)
  const rpc = openRpc<CardMethods>(childPort(child, toError))

  /** Kills the process if `work` takes too long. */
  async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
    const timer = setTimeout(() => {
      rpc.close(new Error(`timed out after ${timeoutMs} ms`))
      child.kill('SIGKILL')
    }, timeoutMs)
    return work.finally(() => clearTimeout(timer))
  }

  const ready = within(startTimeoutMs, rpc.ready)
  return {
    async render(question) {
      await ready
      return within(renderTimeoutMs, rpc.call('render', question))
    },
    get hasEnded() {
      return rpc.isClosed
    },
    async end() {
      const isRunning = child.pid !== undefined && (child.exitCode ?? child.signalCode) === null
      if (!isRunning) return
      const exited = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await exited
    },
  }
}
