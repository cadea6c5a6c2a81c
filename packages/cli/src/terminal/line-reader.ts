/**
 * Lines that a person types at a terminal, with a history under the arrow keys. Between two questions nothing is shown of
 * what is typed, so that it cannot fall into an answer; it is kept for the next question.
 */

import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import type { CliEnvironment, OutputStream } from '../environment.ts'

export type Typed =
  | { type: 'line'; text: string }
  /** Ctrl-C, which drops what stands on the line. */
  | { type: 'interrupt'; hadText: boolean }
  /** Ctrl-D, or the terminal is gone. */
  | { type: 'end' }

export type LineReader = { next(prompt: string): Promise<Typed>; close(): void }

const historySize = 500

export function openLineReader(
  { stdin, stderr }: Pick<CliEnvironment, 'stdin' | 'stderr'>,
  /** Ctrl-C while no line is asked for. */
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

  /** As the keys do it: to the end, then away with all before it. */
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
