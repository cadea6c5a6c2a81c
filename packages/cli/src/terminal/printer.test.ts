import { PassThrough, Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { Failure } from './failure.ts'
import type { GlobalOptions } from './global-options.ts'
import { createPrinter } from './printer.ts'

/** A printer with colors, and what it has written. */
function printerWith(options: Partial<GlobalOptions> = {}) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const printer = createPrinter(
    {
      env: { FORCE_COLOR: '1' },
      stdin: Readable.from([]),
      stdout,
      stderr,
      stopSignal: new AbortController().signal,
      memoryBytes: 0,
    },
    { color: true, input: true, ...options },
  )
  return { printer, written: () => [stdout, stderr].map((stream) => String(stream.read() ?? '')) }
}

const hostile = 'a\x1b[31mb\x9b31mc\u202ed\r\ne'

test('colors are printed, but no control characters from elsewhere, and a line stays one line', async () => {
  const { printer, written } = printerWith()
  await printer.answer({}, () => [printer.out.bold(hostile), hostile])
  printer.warn(hostile)
  printer.fail(new Failure('failed', hostile))
  const safe = 'a[31mb31mcd e'
  expect(written()).toEqual([
    `\x1b[1m${safe}\x1b[22m\n${safe}\n`,
    `\x1b[33m!\x1b[39m ${safe}\n\x1b[31m✗\x1b[39m ${safe}\n`,
  ])
})

test('in JSON, control characters are escaped', async () => {
  const { printer, written } = printerWith({ json: true, progress: 'json' })
  await printer.answer({ name: hostile }, () => [])
  printer.note(hostile)
  const [out = '', err = ''] = written()
  expect(out + err).not.toMatch(/(?!\n)[\p{Cc}\u202e]/u)
  expect(JSON.parse(out)).toEqual({ name: hostile })
  expect(JSON.parse(err)).toEqual({ type: 'note', message: hostile })
})
