import type { PullEvent, SourceShare } from '@shoal/transfer'
import type { Printer } from '../terminal/printer.ts'
import type { Progress } from '../terminal/progress.ts'
import type { ProgressStatus } from '../terminal/progress-frame.ts'
import { formatBytes } from '../terminal/units.ts'
import { waitNotes } from '../terminal/wait-notes.ts'
import { computeShares } from './source-shares.ts'

/** Combines the events of all parts of a pull into one progress bar. */
export function pullReport(printer: Printer, progress: Progress, bytesTotal: number) {
  let bytesBefore = 0
  const noteWait = waitNotes(printer)
  let status: ProgressStatus = { bytesDone: 0, bytesTotal }

  function show(partBytes: number, more: Partial<ProgressStatus> = {}) {
    status = { bytesTotal, bytesDone: bytesBefore + partBytes, ...more }
    progress.update(status)
  }

  return {
    bytesDone: () => status.bytesDone,
    status: () => status,
    nextPart(sizeBytes: number) {
      bytesBefore += sizeBytes
      show(0)
    },
    onEvent(event: PullEvent) {
      progress.event(event)
      const partBytes = status.bytesDone - bytesBefore
      switch (event.type) {
        case 'checking':
          return show(partBytes, {
            remarks: [`checking existing data, ${formatBytes(event.bytesDone)}`],
          })
        case 'resumed':
          printer.note(`  Checked ${formatBytes(event.bytes)} of existing data.`)
          return show(event.bytes)
        case 'starting-over':
          return printer.note(`  Starting over: ${event.reason}.`)
        case 'progress':
          return show(event.bytesDone, {
            ...computePace(event, bytesTotal - bytesBefore - event.bytesDone),
            remarks: remarksOn(event.sources),
          })
        case 'bad-chunk':
          return printer.detail(`  Chunk ${event.index} from ${event.source} was bad.`)
        case 'without-peers':
          return printer.detail(`  Not using peers: ${event.reason}`)
        case 'waiting':
          return noteWait(event)
        case 'verifying':
          return show(partBytes, { remarks: ['verifying'] })
        case 'done':
          return undefined
      }
    },
  }
}

function computePace(
  event: PullEvent & { type: 'progress' },
  bytesLeft: number,
): Partial<ProgressStatus> {
  const { bytesPerSecond, secondsLeft } = event
  const isMoving = secondsLeft !== undefined && bytesPerSecond > 0
  return {
    bytesPerSecond,
    secondsLeft: isMoving ? bytesLeft / bytesPerSecond : undefined,
  }
}

/** Returns remarks such as `6 peers + registry` and `59% from peers`, or no remarks if no data came from peers. */
function remarksOn(sources: readonly SourceShare[]): string[] {
  const shares = computeShares(sources)
  if (!shares) return []
  const { peers, percent, isRegistryToo } = shares
  return [isRegistryToo ? `${peers} + registry` : peers, `${percent} from peers`]
}
