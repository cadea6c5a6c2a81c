/**
 * Reads lines from a terminal, with a history on the arrow keys. Text that is typed while no line is requested is kept
 * for the next request, and is not echoed, so that it does not appear in the middle of an answer.
 */

import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import type { CliEnvironment, OutputStream } from '../environment.ts'

export type Typed =
  | { type: 'line'; text: string }
  /** Ctrl-C was pressed, which clears the line. `hadText`: whether the line contained text. */
  | { type: 'interrupt'; hadText: boolean }
  /** Ctrl-D was pressed, or the terminal was closed. */
  | { type: 'end' }

export type LineReader = { next(prompt: string): Promise<Typed>; close(): void }

const historySize = 500

export function openLineReader(
  { stdin, stderr }: Pick<CliEnvironment, 'stdin' | 'stderr'>,
  /** Called when Ctrl-C is pressed while no line is requested. */
  onInterrupt: () => void,
): LineReader {
  const screen = muteable(stderr)
  const lines = createInterface({
    input: stdin,
    output: screen.stream,
    terminal: true,
    historySize,
    removeHistoryDuplicates: true,
  })
  const ahead: string[] = []
  let waiting: ((typed: Typed) => void) | undefined
  let isOver = false

  function settle(typed: Typed) {
    screen.mute()
    waiting?.(typed)
    waiting = undefined
  }

  lines.on('line', (text) => {
    if (waiting) settle({ type: 'line', text })
    else ahead.push(text)
  })
  lines.on('close', () => {
    isOver = true
    settle({ type: 'end' })
  })
  lines.on('SIGINT', () => {
    const hadText = lines.line !== ''
    dropLine()
    if (!waiting) {
      ahead.length = 0
      return onInterrupt()
    }
    stderr.write('\n')
    settle({ type: 'interrupt', hadText })
  })

  /** Simulates the keys Ctrl-E (end of line) and Ctrl-U (delete to the left). */
  function dropLine() {
    lines.write(null, { ctrl: true, name: 'e' })
    lines.write(null, { ctrl: true, name: 'u' })
  }

  return {
    next(prompt) {
      const text = ahead.shift()
      if (text !== undefined) {
        stderr.write(`${prompt}${text}\n`)
        return Promise.resolve({ type: 'line', text })
      }
      if (isOver) return Promise.resolve({ type: 'end' })
      screen.unmute()
      lines.setPrompt(prompt)
      lines.prompt(true)
      return new Promise((resolve) => {
        waiting = resolve
      })
    },
    close: () => lines.close(),
  }
}

function muteable(terminal: OutputStream) {
  let isMuted = true
  const stream: OutputStream = new Writable({
    write(chunk, _encoding, done) {
      if (!isMuted) terminal.write(chunk)
      done()
    },
  })
  Object.defineProperty(stream, 'columns', { get: () => terminal.columns })
  terminal.on('resize', () => stream.emit('resize'))
  return {
    stream,
    mute() {
      isMuted = true
    },
    unmute() {
      isMuted = false
    },
  }
}
