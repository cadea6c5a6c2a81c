import type { PushEvent } from '@shoal/transfer'
import type { Printer } from '../terminal/printer.ts'
import type { Progress } from '../terminal/progress.ts'
import type { ProgressStatus } from '../terminal/progress-frame.ts'
import { formatBytes } from '../terminal/units.ts'
import { waitNotes } from '../terminal/wait-notes.ts'

type StepEvent = PushEvent & { type: 'hashing' | 'uploading' | 'processing' }

/** The approximate share of each step in a file's progress, from 0 to 1. Steps may overlap. */
const steps = {
  hashing: { part: 0.15, verb: 'reading' },
  uploading: { part: 0.75, verb: 'uploading' },
  processing: { part: 0.1, verb: 'registry is checking' },
}

/** How much of each step of a file is complete, from 0 to 1. */
type Shares = Record<StepEvent['type'], number>
const noShares: Shares = { hashing: 0, uploading: 0, processing: 0 }

/** Combines the events of all files of a push into one progress bar. */
export function pushReport(printer: Printer, progress: Progress, bytesTotal: number) {
  let status: ProgressStatus = { bytesDone: 0, bytesTotal, fraction: 0 }
  let bytesBefore = 0
  let shares = noShares
  const noteWait = waitNotes(printer)

  function show(fileShare: number, sizeBytes: number, more: Partial<ProgressStatus> = {}) {
    const now = bytesTotal > 0 ? (bytesBefore + fileShare * sizeBytes) / bytesTotal : 1
    const fraction = Math.max(status.fraction ?? 0, now)
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
      shares = noShares
    },
    onEvent(filename: string, sizeBytes: number, event: PushEvent) {
      progress.event({ filename, ...event })
      switch (event.type) {
        case 'hashing':
        case 'processing':
        case 'uploading': {
          const { type } = event
          // If a later step begins before an earlier one has ended, the later one is shown.
          const isHidden = type === 'hashing' && shares.uploading > 0
          shares =
            type === 'processing'
              ? { hashing: 1, uploading: 1, processing: share(event) }
              : { ...shares, [type]: share(event) }
          const fileShare = sumShares(shares)
          if (isHidden) return show(fileShare, sizeBytes, texts(status))
          const sent = type === 'hashing' ? 0 : type === 'processing' ? sizeBytes : event.bytesDone
          return show(fileShare, sizeBytes, {
            bytesDone: bytesBefore + sent,
            amount: formatAmount(steps[type].verb, event),
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

const share = ({ bytesDone, bytesTotal }: StepEvent) =>
  bytesTotal > 0 ? bytesDone / bytesTotal : 0

const sumShares = (shares: Shares) =>
  steps.hashing.part * shares.hashing +
  steps.uploading.part * shares.uploading +
  steps.processing.part * shares.processing

/** The texts beside the bar. */
const texts = ({ bytesPerSecond, secondsLeft, amount }: ProgressStatus) => ({
  bytesPerSecond,
  secondsLeft,
  amount,
})

/** Formats the bytes of the current step. Includes a verb, because not every step is an upload. */
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
