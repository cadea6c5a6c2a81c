import { plainLine } from './plain-text.ts'
import type { Printer } from './printer.ts'

type Wait = { seconds: number; reason: string }

/** Nobody needs to hear of a shorter one. */
const shortestSeconds = 1
/** A registry that is away is tried again every two seconds: that is said once, and then now and then. */
const repeatAfterMs = 30_000

/** Tells of waits, as in “Waiting 2 s: localhost:8000: connect ECONNREFUSED”. */
export function waitNotes(printer: Printer): (wait: Wait) => void {
  let lastReason: string | undefined
  let saidAt = Number.NEGATIVE_INFINITY
  return ({ seconds, reason }) => {
    const now = performance.now()
    const isKnown = reason === lastReason && now - saidAt < repeatAfterMs
    if (seconds < shortestSeconds || isKnown) return
    lastReason = reason
    saidAt = now
    printer.note(`  Waiting ${Math.ceil(seconds)} s: ${plainLine(reason)}.`)
  }
}
