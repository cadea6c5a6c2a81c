import type { PushEvent } from '@shoal/transfer'
import type { Printer } from '../terminal/printer.ts'
import type { Progress } from '../terminal/progress.ts'
import type { ProgressStatus } from '../terminal/progress-frame.ts'
import { formatBytes, plural } from '../terminal/units.ts'
import { waitNotes } from '../terminal/wait-notes.ts'

type StepEvent = PushEvent & { type: 'hashing' | 'uploading' | 'processing' }
type Step = StepEvent['type']

/** The approximate share of each step in a file's progress, from 0 to 1. Steps may overlap. */
const parts: Record<Step, number> = { hashing: 0.15, uploading: 0.75, processing: 0.1 }
/** Of the steps of all files, the first in this list is shown. */
const shownFirst: Step[] = ['uploading', 'hashing', 'processing']

/** The progress of one file. */
type FileProgress = {
  sizeBytes: number
  /** If a later step begins before an earlier one has ended, this is the later one. */
  step: Step
  /** The number of bytes for which each step is complete. */
  bytes: Record<Step, number>
  bytesPerSecond: number
}

/** Combines the events of all files of a push into one progress bar. Several files may be in progress. */
export function pushReport(printer: Printer, progress: Progress, bytesTotal: number) {
  let status: ProgressStatus = { bytesDone: 0, bytesTotal, fraction: 0 }
  let bytesReady = 0
  const files = new Map<string, FileProgress>()
  const noteWait = waitNotes(printer)

  const sum = (measure: (file: FileProgress) => number) =>
    files.values().reduce((total, file) => total + measure(file), 0)

  function show() {
    const step = shownFirst.find((one) => files.values().some((file) => file.step === one))
    const bytesDone = bytesReady + sum(({ bytes }) => bytes.uploading)
    const fraction = bytesTotal > 0 ? (bytesReady + sum(weigh)) / bytesTotal : 1
    status = {
      bytesDone,
      bytesTotal,
      fraction: Math.max(status.fraction ?? 0, fraction),
      remarks: files.size > 1 ? [plural(files.size, 'file')] : [...files.keys()],
      ...(step && { amount: formatAmount(step) }),
      ...(step === 'uploading' && computePace(bytesTotal - bytesDone)),
    }
    progress.update(status)
  }

  /** Formats the bytes of a step. Includes a verb, because not every step is an upload. */
  function formatAmount(step: Step): string {
    if (step === 'processing') {
      return `registry is checking ${formatBytes(sum(({ sizeBytes }) => sizeBytes))}`
    }
    const done = formatBytes(bytesReady + sum(({ bytes }) => bytes[step]))
    const verb = step === 'hashing' ? 'reading' : 'uploading'
    return `${verb} ${done} of ${formatBytes(bytesTotal)}`
  }

  function computePace(bytesLeft: number) {
    const bytesPerSecond = sum((file) => (file.step === 'uploading' ? file.bytesPerSecond : 0))
    const secondsLeft = bytesPerSecond > 0 ? bytesLeft / bytesPerSecond : undefined
    return { bytesPerSecond, secondsLeft }
  }

  return {
    status: () => status,
    onEvent(filename: string, sizeBytes: number, event: PushEvent) {
      progress.event({ filename, ...event })
      switch (event.type) {
        case 'hashing':
        case 'processing':
        case 'uploading': {
          files.set(filename, advance(files.get(filename), sizeBytes, event))
          return show()
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
          files.delete(filename)
          bytesReady += sizeBytes
          return show()
      }
    },
  }
}

function advance(
  before: FileProgress | undefined,
  sizeBytes: number,
  event: StepEvent,
): FileProgress {
  const { type, bytesDone } = event
  const bytes = { hashing: 0, uploading: 0, processing: 0, ...before?.bytes, [type]: bytesDone }
  return {
    sizeBytes,
    step: type === 'hashing' && bytes.uploading > 0 ? 'uploading' : type,
    bytes: type === 'processing' ? { ...bytes, hashing: sizeBytes, uploading: sizeBytes } : bytes,
    bytesPerSecond: type === 'uploading' ? event.bytesPerSecond : (before?.bytesPerSecond ?? 0),
  }
}

/** Returns the file's progress in bytes, over all steps. */
const weigh = ({ bytes }: FileProgress) =>
  parts.hashing * bytes.hashing +
  parts.uploading * bytes.uploading +
  parts.processing * bytes.processing
