import type { Printer } from './printer.ts'
import { toTerminalLine } from './terminal-text.ts'

/** 0 seconds: nobody knows how long. */
type Wait = { seconds: number; reason: string }

/** Nobody needs to hear of a shorter one. */
const minSeconds = 1
/** A registry that is away is tried again every two seconds: that is said once, and then now and then. */
const repeatAfterMs = 30_000

/** Tells of waits, as in “Waiting 2 s: localhost:8000: connect ECONNREFUSED”. */
export function waitNotes(printer: Printer): (wait: Wait) => void {
  let lastReason: string | undefined
  let notedAt = Number.NEGATIVE_INFINITY
  return ({ seconds, reason }) => {
    const now = performance.now()
    const isKnown = reason === lastReason && now - notedAt < repeatAfterMs
    const isShort = seconds > 0 && seconds < minSeconds
    if (isShort || isKnown) return
    lastReason = reason
    notedAt = now
    const duration = seconds > 0 ? ` ${Math.round(seconds)} s` : ''
    printer.note(`  Waiting${duration}: ${toTerminalLine(reason)}.`)
  }
}
