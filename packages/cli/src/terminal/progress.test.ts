import { PassThrough, Readable } from 'node:stream'
import { expect, test } from 'vitest'
import type { GlobalOptions } from './global-options.ts'
import { createPrinter } from './printer.ts'
import { openProgress } from './progress.ts'

function terminal(options: Partial<GlobalOptions> = {}, isTTY = false) {
  const stderr = Object.assign(new PassThrough(), { isTTY, columns: 80 })
  const printer = createPrinter(
    {
      env: {},
      stdin: Readable.from([]),
      stdout: new PassThrough(),
      stderr,
      stopSignal: new AbortController().signal,
      memoryBytes: 0,
    },
    { color: false, input: true, ...options },
  )
  return { printer, written: () => String(stderr.read() ?? '') }
}

const bytesTotal = 1_000_000

test('without a terminal, a line is printed for each 10%, without escape sequences', async () => {
  const { printer, written } = terminal()
  const progress = await openProgress(printer, 'tide:Q8_0')
  for (let percent = 0; percent <= 100; percent += 1) {
    progress.update({ bytesDone: (bytesTotal * percent) / 100, bytesTotal })
  }
  progress.end()
  const lines = written().trimEnd().split('\n')
  expect(lines).toHaveLength(10)
  expect(lines[0]).toBe('tide:Q8_0  10%  100 KB of 1.00 MB')
  expect(lines.at(-1)).toBe('tide:Q8_0 100%  1.00 MB of 1.00 MB')
  expect(lines.join('')).not.toContain('\x1b')
})

test('progress never goes backwards', async () => {
  const { printer, written } = terminal()
  const progress = await openProgress(printer, 'tide')
  for (const bytesDone of [500_000, 100_000, 550_000, 0, 600_000]) {
    progress.update({ bytesDone, bytesTotal })
  }
  expect(written().match(/\d+%/g)).toEqual(['50%', '60%'])
})

test('on a terminal, notes are printed above the bar, which stays at the bottom', async () => {
  const { printer, written } = terminal({}, true)
  const progress = await openProgress(printer, 'tide')
  progress.update({ bytesDone: 500_000, bytesTotal })
  printer.note('a note')
  progress.end()
  const text = written()
  expect(text.indexOf('a note')).toBeGreaterThan(text.indexOf('50%'))
  expect(text.lastIndexOf('50%')).toBeGreaterThan(text.indexOf('a note'))
})

test('under --progress=json, events are lines with snake_case names, and rapid progress events are skipped', async () => {
  const { printer, written } = terminal({ progress: 'json' })
  const progress = await openProgress(printer, 'tide')
  progress.event({ type: 'resumed', bytes: 5 })
  progress.event({ type: 'progress', bytesDone: 6, bytesTotal: 9 })
  progress.event({ type: 'progress', bytesDone: 7, bytesTotal: 9 })
  progress.event({ type: 'progress', bytesDone: 9, bytesTotal: 9 })
  progress.event({ type: 'done' })
  progress.end()
  const events = written()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(events).toEqual([
    { type: 'resumed', bytes: 5 },
    { type: 'progress', bytes_done: 6, bytes_total: 9 },
    { type: 'progress', bytes_done: 9, bytes_total: 9 },
    { type: 'done' },
  ])
})

test('under --quiet, nothing is shown', async () => {
  const { printer, written } = terminal({ quiet: true })
  const progress = await openProgress(printer, 'tide')
  progress.update({ bytesDone: 1, bytesTotal: 1 })
  progress.end()
  expect(written()).toBe('')
})
