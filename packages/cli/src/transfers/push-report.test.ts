import type { PushEvent } from '@shoal/transfer'
import { expect, test } from 'vitest'
import type { Printer } from '../terminal/printer.ts'
import type { ProgressStatus } from '../terminal/progress-frame.ts'
import { pushReport } from './push-report.ts'

const sizeBytes = 1000

function open(bytesTotal: number) {
  const shown: ProgressStatus[] = []
  const ignore = () => undefined
  const progress = {
    update: (status: ProgressStatus) => shown.push(status),
    event: ignore,
    end: ignore,
  }
  const printer = { detail: ignore } as unknown as Printer
  return { report: pushReport(printer, progress, bytesTotal), shown }
}

/** Reports the events of one file, and returns the status that is shown after each event. */
function show(events: PushEvent[]) {
  const { report, shown } = open(sizeBytes)
  for (const event of events) report.onEvent('tide.gguf', sizeBytes, event)
  report.onEvent('tide.gguf', sizeBytes, { type: 'done' })
  return shown
}

const hashing = (bytesDone: number): PushEvent => ({
  type: 'hashing',
  bytesDone,
  bytesTotal: sizeBytes,
})
const uploading = (bytesDone: number): PushEvent => ({
  type: 'uploading',
  ...{ bytesDone, bytesTotal: sizeBytes, bytesPerSecond: 100, secondsLeft: 5 },
})
const processing: PushEvent = { type: 'processing', bytesDone: sizeBytes, bytesTotal: sizeBytes }

test('a file that is sent after it was hashed fills one bar', () => {
  const shown = show([hashing(500), hashing(1000), uploading(500), uploading(1000), processing])
  const fractions = shown.map(({ fraction }) => Number(fraction?.toFixed(3)))
  expect(fractions).toEqual([0.075, 0.15, 0.525, 0.9, 1, 1])
  expect(shown.slice(0, 3).map(({ amount }) => amount?.split(' ')[0])).toEqual([
    ...['reading', 'reading', 'uploading'],
  ])
})

test('while a file is sent and hashed at the same time, the bar never runs backwards and shows the upload', () => {
  const shown = show([hashing(200), uploading(100), hashing(600), uploading(0), hashing(1000)])
  const fractions = shown.map(({ fraction }) => Number(fraction?.toFixed(3)))
  expect(fractions).toEqual([0.03, 0.105, 0.165, 0.165, 0.165, 1])
  expect(shown.slice(1, 5).map(({ amount }) => amount?.split(' ')[0])).toEqual([
    'uploading',
    'uploading',
    'uploading',
    'reading',
  ])
})

test('files that are in progress at the same time are added up', () => {
  const { report, shown } = open(2 * sizeBytes)
  report.onEvent('a.gguf', sizeBytes, hashing(1000))
  report.onEvent('b.gguf', sizeBytes, uploading(500))
  report.onEvent('a.gguf', sizeBytes, uploading(1000))
  report.onEvent('a.gguf', sizeBytes, processing)
  report.onEvent('a.gguf', sizeBytes, { type: 'done' })
  expect(shown.map(({ bytesDone, remarks, amount }) => [bytesDone, remarks?.[0], amount])).toEqual([
    [0, 'a.gguf', 'reading 1.00 KB of 2.00 KB'],
    [500, '2 files', 'uploading 500 B of 2.00 KB'],
    [1500, '2 files', 'uploading 1.50 KB of 2.00 KB'],
    [1500, '2 files', 'uploading 1.50 KB of 2.00 KB'],
    [1500, 'b.gguf', 'uploading 1.50 KB of 2.00 KB'],
  ])
  expect(shown.map(({ bytesPerSecond }) => bytesPerSecond)).toEqual([undefined, 100, 200, 100, 100])
})
