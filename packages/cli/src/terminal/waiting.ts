import { toTerminal } from './colors.ts'
import type { Printer } from './printer.ts'

/** If the work takes less time than this, no text is shown. */
const quietMs = 400

/** Runs `work`. If `work` takes longer than `quietMs`, shows `words` on the terminal until it ends. */
export async function whileWaiting<T>(
  printer: Printer,
  words: string,
  work: () => Promise<T>,
): Promise<T> {
  if (!printer.can.canDraw || printer.isQuiet || printer.isForPrograms) return await work()
  const { createLogUpdate } = await import('log-update')
  const log = createLogUpdate(printer.stderr as NodeJS.WriteStream, { showCursor: true })
  const draw = () => log(toTerminal(printer.err.dim(`  ${words} …`)))
  const timer = setTimeout(() => {
    printer.setRegion({ clear: () => log.clear(), draw })
    draw()
  }, quietMs)
  try {
    return await work()
  } finally {
    clearTimeout(timer)
    printer.setRegion(undefined)
    log.clear()
  }
}
