import type { PushEvent } from '@shoal/transfer'
import type { Printer } from '../terminal/printer.ts'
import type { Progress } from '../terminal/progress.ts'
import type { Standing } from '../terminal/progress-frame.ts'
import { waitNotes } from '../terminal/wait-notes.ts'

/** What share of the work of a file each step is, roughly: reading it here, sending it, and checking it there. */
const stepOf = {
  hashing: { from: 0, to: 0.15, remark: 'reading' },
  uploading: { from: 0.15, to: 0.9, remark: 'sending' },
  processing: { from: 0.9, to: 1, remark: 'the registry checks' },
}

/** One bar for all files of a push. */
export function pushReport(printer: Printer, progress: Progress, bytesTotal: number) {
  let standing: Standing = { bytesDone: 0, bytesTotal, fraction: 0 }
  let bytesBefore = 0
  const noteWait = waitNotes(printer)

  function show(fileShare: number, sizeBytes: number, more: Partial<Standing> = {}) {
    const fraction = bytesTotal > 0 ? (bytesBefore + fileShare * sizeBytes) / bytesTotal : 1
    standing = { ...standing, bytesPerSecond: undefined, secondsLeft: undefined, ...more, fraction }
    progress.update(standing)
  }

  return {
    standing: () => standing,
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
          const { from, to, remark } = stepOf[event.type]
          const share = event.bytesTotal > 0 ? event.bytesDone / event.bytesTotal : 0
          const sent =
            event.type === 'hashing' ? 0 : event.type === 'processing' ? sizeBytes : event.bytesDone
          return show(from + (to - from) * share, sizeBytes, {
            bytesDone: bytesBefore + sent,
            remarks: [`${remark} ${filename}`],
            ...(event.type === 'uploading' && paceOf(event, bytesTotal - bytesBefore - sent)),
          })
        }
        case 'resumed':
          return printer.detail(`  The registry has ${event.bytes} bytes of ${filename} already.`)
        case 'bad-chunk':
          return printer.note(
            `  Chunk ${event.index} of ${filename} arrived damaged; sending it again.`,
          )
        case 'waiting':
          return noteWait(event)
        case 'done':
          return undefined
      }
    },
  }
}

function paceOf({ bytesPerSecond }: PushEvent & { type: 'uploading' }, bytesLeft: number) {
  return {
    bytesPerSecond,
    secondsLeft: bytesPerSecond > 0 ? bytesLeft / bytesPerSecond : undefined,
  }
}
