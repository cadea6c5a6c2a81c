/** Simulates a user at a terminal, with the program in this process. */
import { PassThrough } from 'node:stream'
import type { Environment } from '../environment.ts'
import { runCommandLine } from '../run.ts'

type Options = { home: string; env?: Environment; stopSignal?: AbortSignal }

export const controlC = '\x03'
export const controlD = '\x04'
export const arrowUp = '\x1b[A'

export function atTerminal(words: readonly string[], { home, env = {}, stopSignal }: Options) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true })
  const stdout = screenPart()
  const stderr = screenPart()
  const outcome = runCommandLine(words, {
    env: { SHOAL_HOME: home, NO_COLOR: '1', ...env },
    stdin,
    stdout: stdout.stream,
    stderr: stderr.stream,
    stopSignal: stopSignal ?? new AbortController().signal,
    memoryBytes: 16 * 2 ** 30,
    daemonPort: 9,
  }).then((exitCode) => ({ exitCode, stdout: stdout.text(), stderr: stderr.text() }))
  const seen = { stdout: 0, stderr: 0 }

  /** Sends keys, as a terminal encodes them. */
  function press(keys: string) {
    seen.stdout = stdout.text().length
    seen.stderr = stderr.text().length
    stdin.write(keys)
  }

  return {
    press,
    type: (line: string) => press(`${line}\r`),
    /** Waits for the next prompt, and returns the output since the last keys were pressed. */
    async prompted() {
      await stderr.until(prompt, seen.stderr)
      return {
        stdout: stdout.text().slice(seen.stdout),
        stderr: stderr.text().slice(seen.stderr),
      }
    },
    sees: (pattern: RegExp) => stdout.until(pattern, seen.stdout),
    outcome,
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: matches the sequence that moves the cursor after the prompt
const prompt = /[>…] \x1b\[\d*G$/

/** Less than the time limit of a test, so that the failure says what did not appear. */
const timeoutMs = 200_000

function screenPart() {
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns: 80 })
  let text = ''
  const watchers = new Set<() => void>()
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8')
    for (const watch of watchers) watch()
  })
  return {
    stream,
    text: () => text,
    /** Resolves when the output after position `start` matches `pattern`. */
    until(pattern: RegExp, start: number): Promise<void> {
      return new Promise((resolve, reject) => {
        const overdue = setTimeout(
          () => reject(new Error(`${pattern} did not appear in ${JSON.stringify(text)}`)),
          timeoutMs,
        )
        const watch = () => {
          if (!pattern.test(text.slice(start))) return
          clearTimeout(overdue)
          watchers.delete(watch)
          resolve()
        }
        watchers.add(watch)
        watch()
      })
    },
  }
}
