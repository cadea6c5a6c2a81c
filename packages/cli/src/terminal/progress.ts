import { toTerminal } from './colors.ts'
import type { Printer } from './printer.ts'
import {
  computeFraction,
  computePercent,
  formatAmount,
  type ProgressStatus,
  progressFrame,
} from './progress-frame.ts'

/** Shows progress, which never goes backwards. */
export type Progress = {
  update(status: ProgressStatus): void
  /** Reports an event of the transfer. Prints it as a JSON line under `--progress=json`; otherwise ignores it. */
  event(event: { type: string; [detail: string]: unknown }): void
  end(): void
}

const frameMs = 100

/** Shows a bar, a line for each 10%, JSON events, or nothing, depending on stderr and the options. */
export async function openProgress(printer: Printer, title: string): Promise<Progress> {
  if (printer.isForPrograms) return eventProgress(printer)
  if (printer.isQuiet) return { update: ignore, event: ignore, end: ignore }
  return printer.can.canDraw ? await liveProgress(printer) : lineProgress(printer, title)
}

async function liveProgress(printer: Printer): Promise<Progress> {
  const { createLogUpdate } = await import('log-update')
  const log = createLogUpdate(printer.stderr as NodeJS.WriteStream, { showCursor: true })
  const forwards = neverBackwards()
  let status: ProgressStatus | undefined
  let drawnAt = 0
  const draw = () => {
    if (status === undefined) return
    drawnAt = performance.now()
    const lines = progressFrame(status, (printer.stderr.columns ?? 80) - 1, printer.err)
    log(toTerminal(lines.join('\n')))
  }
  printer.setRegion({ clear: () => log.clear(), draw })
  return {
    update(next) {
      status = forwards(next)
      if (performance.now() - drawnAt >= frameMs) draw()
    },
    event: ignore,
    end() {
      // The bar stays on the screen, but without the speed and the remaining time.
      if (status)
        status = {
          bytesDone: status.bytesDone,
          bytesTotal: status.bytesTotal,
          fraction: computeFraction(status),
        }
      draw()
      log.done()
      printer.setRegion(undefined)
    },
  }
}

function lineProgress(printer: Printer, title: string): Progress {
  const forwards = neverBackwards()
  let lastTenth = 0
  return {
    update(next) {
      const status = forwards(next)
      const tenth = Math.floor(computePercent(status) / 10)
      if (tenth <= lastTenth) return
      lastTenth = tenth
      const percent = `${tenth * 10}%`.padStart(4)
      printer.note(`${title} ${percent}  ${formatAmount(status)}`)
    },
    event: ignore,
    end: ignore,
  }
}

/**
 * Prints events as JSON. Successive events that have the same type and a byte count are printed at most once per
 * `frameMs`. The last skipped event is printed before an event of another type, or at the end.
 */
function eventProgress(printer: Printer): Progress {
  let reportedAt = Number.NEGATIVE_INFINITY
  let lastType = ''
  let held: object | undefined
  const release = () => {
    if (held) printer.event(held)
    held = undefined
  }
  return {
    update: ignore,
    event(event) {
      const isSoon = event.type === lastType && performance.now() - reportedAt < frameMs
      if (isSoon && 'bytesDone' in event) {
        held = event
        return
      }
      if (event.type === lastType) held = undefined
      release()
      printer.event(event)
      reportedAt = performance.now()
      lastType = event.type
    },
    end: release,
  }
}

function neverBackwards(): (status: ProgressStatus) => ProgressStatus {
  let bytesDone = 0
  let fraction = 0
  return (status) => {
    bytesDone = Math.max(bytesDone, status.bytesDone)
    fraction = Math.max(fraction, computeFraction(status))
    return { ...status, bytesDone, fraction }
  }
}

/** Does nothing. Implements the methods of `Progress` that a kind of output does not need. */
function ignore() {
  return undefined
}
