import type { Printer } from './printer.ts'
import { toTerminalLine } from './terminal-text.ts'

/** A wait. `seconds` is 0 if its duration is unknown. */
type Wait = { seconds: number; reason: string }

/** Waits that are shorter than this are not reported. */
const minSeconds = 1
/** The same note is not repeated within this time. Requests to an offline registry are retried every two seconds. */
const repeatAfterMs = 30_000

/** Prints notes about waits, such as “Waiting 2 s: localhost:8000: connect ECONNREFUSED”. */
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
