import type { PushEvent } from '@shoal/transfer'
import type { Printer } from '../terminal/printer.ts'
import type { Progress } from '../terminal/progress.ts'
import type { ProgressStatus } from '../terminal/progress-frame.ts'
import { formatBytes } from '../terminal/units.ts'
import { waitNotes } from '../terminal/wait-notes.ts'

type StepEvent = PushEvent & { type: 'hashing' | 'uploading' | 'processing' }

/** The range of a file's progress, from 0 to 1, that each step approximately covers. */
const steps = {
  hashing: { from: 0, to: 0.15, verb: 'reading' },
  uploading: { from: 0.15, to: 0.9, verb: 'uploading' },
  processing: { from: 0.9, to: 1, verb: 'registry is checking' },
}

/** Combines the events of all files of a push into one progress bar. */
export function pushReport(printer: Printer, progress: Progress, bytesTotal: number) {
  let status: ProgressStatus = { bytesDone: 0, bytesTotal, fraction: 0 }
  let bytesBefore = 0
  const noteWait = waitNotes(printer)

  function show(fileShare: number, sizeBytes: number, more: Partial<ProgressStatus> = {}) {
    const fraction = bytesTotal > 0 ? (bytesBefore + fileShare * sizeBytes) / bytesTotal : 1
    status = {
      ...status,
      bytesPerSecond: undefined,
      secondsLeft: undefined,
      amount: undefined,
      ...more,
      fraction,
    }
    progress.update(status)
  }

  return {
    status: () => status,
    fileDone(sizeBytes: number) {
      show(1, sizeBytes, { bytesDone: bytesBefore + sizeBytes, remarks: [] })
      bytesBefore += sizeBytes
    },
    onEvent(filename: string, sizeBytes: number, event: PushEvent) {
      progress.event({ filename, ...event })
      switch (event.type) {
        case 'hashing':
        case 'processing':
        case 'uploading': {
          const { from, to, verb } = steps[event.type]
          const share = event.bytesTotal > 0 ? event.bytesDone / event.bytesTotal : 0
          const sent =
            event.type === 'hashing' ? 0 : event.type === 'processing' ? sizeBytes : event.bytesDone
          return show(from + (to - from) * share, sizeBytes, {
            bytesDone: bytesBefore + sent,
            amount: formatAmount(verb, event),
            remarks: [filename],
            ...(event.type === 'uploading' && computePace(event, bytesTotal - bytesBefore - sent)),
          })
        }
        case 'resumed':
          return printer.detail(`  The registry already has ${event.bytes} bytes of ${filename}.`)
        case 'bad-chunk':
          return printer.note(
            `  Chunk ${event.index} of ${filename} arrived damaged. Uploading it again.`,
          )
        case 'waiting':
          return noteWait(event)
        case 'done':
          return undefined
      }
    },
  }
}

/** Formats the bytes of the current step, with a verb, because not every step is an upload. */
function formatAmount(verb: string, { type, bytesDone, bytesTotal }: StepEvent): string {
  const total = formatBytes(bytesTotal)
  return type === 'processing'
    ? `${verb} ${total}`
    : `${verb} ${formatBytes(bytesDone)} of ${total}`
}

function computePace({ bytesPerSecond }: PushEvent & { type: 'uploading' }, bytesLeft: number) {
  return {
    bytesPerSecond,
    secondsLeft: bytesPerSecond > 0 ? bytesLeft / bytesPerSecond : undefined,
  }
}
