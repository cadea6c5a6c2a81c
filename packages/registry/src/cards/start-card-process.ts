import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { CardAnswer, CardQuestion } from './card-process.ts'

export type CardProcess = {
  /** One card at a time. Rejects for one that cannot be rendered, which may be the end of the process. */
  render(question: CardQuestion): Promise<string>
  readonly hasEnded: boolean
  end(): Promise<void>
}

export type CardLimits = { renderMs: number; heapMb: number }

const startMs = 10_000
const stderrLength = 2_000

/** Starts a process for cards. In a thread one that takes too much memory would end the whole registry (see decision 0014). */
export function startCardProcess({ renderMs, heapMb }: CardLimits): CardProcess {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const child = fork(fileURLToPath(new URL(`./card-process.${extension}`, import.meta.url)), {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: {}, // it needs nothing of ours, secrets least of all
    // What is made for a card is soon gone: more room for the young saves little time and takes 100 MB.
    execArgv: [`--max-old-space-size=${heapMb}`, '--max-semi-space-size=8'],
  })
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(0, stderrLength)
  })
  const ended = new AbortController()
  child.on('error', (error) => ended.abort(error))
  child.on('close', (code, killedBy) => {
    const how = killedBy ? `was ended by ${killedBy}` : `ended with ${code}: ${stderr}`
    ended.abort(new Error(`the process for cards ${how}`))
  })

  /** What it says next. If that takes too long it is ended. */
  async function next(withinMs: number): Promise<CardAnswer> {
    const timer = setTimeout(() => {
      ended.abort(new Error(`it takes longer than ${withinMs} ms`))
      child.kill('SIGKILL')
    }, withinMs)
    try {
      const [answer] = await once(child, 'message', { signal: ended.signal })
      return answer
    } catch (error) {
      throw ended.signal.reason ?? error
    } finally {
      clearTimeout(timer)
    }
  }

  const ready = next(startMs)
  return {
    async render(question) {
      await ready
      const answered = next(renderMs)
      if (child.connected) child.send(question)
      const answer = await answered
      if ('html' in answer) return answer.html
      throw new Error('problem' in answer ? answer.problem : 'the process for cards began anew')
    },
    get hasEnded() {
      return ended.signal.aborted
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
