/** Runs shoal with simulated streams in this process, because a separate process would be slower. */
import { PassThrough, Readable } from 'node:stream'
import type { Environment } from '../environment.ts'
import { runCommandLine } from '../run.ts'

type Options = {
  home: string
  /** The address of a registry. */
  registry?: string
  env?: Environment
  input?: string
  memoryBytes?: number
  /** Whether the streams simulate a terminal, at which the user types nothing. */
  isTerminal?: boolean
  columns?: number
  stopSignal?: AbortSignal
  /**
   * The port to use as the daemon's default port instead of 11434, which may be in use. Default: 9, which is unused.
   */
  daemonPort?: number
  programFolder?: string
  /** Called with everything that has been printed so far. */
  onOutput?: (output: { stdout: string; stderr: string }) => void
}

/** Starts a command that runs until it is stopped or disposed of, such as a server. */
export function startShoalHere(words: readonly string[], options: Options) {
  const stopping = new AbortController()
  let printed = { stdout: '', stderr: '' }
  const waiting = new Set<() => void>()
  const outcome = shoalHere(words, {
    ...options,
    stopSignal: stopping.signal,
    onOutput(output) {
      printed = output
      for (const wake of waiting) wake()
    },
  })

  /** Stops the command as Ctrl-C does, and waits until it has ended. */
  async function stop() {
    stopping.abort(new DOMException('SIGINT', 'AbortError'))
    return outcome
  }

  return {
    stop,
    async [Symbol.asyncDispose]() {
      await stop()
    },

    /** Waits until `text` has been printed, and returns everything printed so far. Rejects if the command ends first. */
    async untilPrinted(text: string) {
      const ended = outcome.then(({ stderr }) => {
        throw new Error(`the command ended without printing “${text}”: ${stderr}`)
      })
      ended.catch(() => undefined) // the command usually ends after this call
      while (!`${printed.stdout}${printed.stderr}`.includes(text)) {
        const { promise, resolve } = Promise.withResolvers<void>()
        waiting.add(resolve)
        await Promise.race([promise, ended])
        waiting.delete(resolve)
      }
      return printed
    },
  }
}

const sixteenGigabytes = 16 * 2 ** 30

export async function shoalHere(words: readonly string[], options: Options) {
  const { home, registry, env = {}, input = '', isTerminal = false, columns = 80 } = options
  const onData = () => options.onOutput?.({ stdout: stdout.text(), stderr: stderr.text() })
  const stdout = collector({ isTTY: isTerminal, columns }, onData)
  const stderr = collector({ isTTY: isTerminal, columns }, onData)
  const exitCode = await runCommandLine(words, {
    env: { SHOAL_HOME: home, ...(registry && { SHOAL_REGISTRY: registry }), ...env },
    stdin: Readable.from([Buffer.from(input)]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    stopSignal: options.stopSignal ?? new AbortController().signal,
    memoryBytes: options.memoryBytes ?? sixteenGigabytes,
    daemonPort: options.daemonPort ?? 9,
    ...(options.programFolder !== undefined && { programFolder: options.programFolder }),
  })
  return { stdout: stdout.text(), stderr: stderr.text(), exitCode }
}

function collector(traits: { isTTY: boolean; columns: number }, onData: () => void) {
  const chunks: Buffer[] = []
  const stream = Object.assign(new PassThrough(), traits)
  stream.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    onData()
  })
  return { stream, text: () => Buffer.concat(chunks).toString('utf8') }
}
