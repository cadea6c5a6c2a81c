import type { Colors } from './colors.ts'
import { formatBytes, formatSeconds } from './units.ts'

/** The progress of a transfer. */
export type ProgressStatus = {
  bytesDone: number
  bytesTotal: number
  /**
   * The progress from 0 to 1, if it depends on more than the bytes transferred. Default: the share of bytes
   * transferred.
   */
  fraction?: number
  bytesPerSecond?: number | undefined
  secondsLeft?: number | undefined
  /** The text beside the bar, such as `reading 2 MB of 5 MB`. Default: the bytes transferred, as `2 MB of 5 MB`. */
  amount?: string | undefined
  /** Additional information, such as `2 sources` or `hashing`. */
  remarks?: readonly string[]
}

const maxCells = 48
const minCells = 10

/** The lines of a progress bar, no wider than the terminal. */
export function progressFrame(status: ProgressStatus, columns: number, colors: Colors): string[] {
  const percent = `${computePercent(status)}%`.padStart(4)
  const texts = [`${percent}  ${formatAmount(status)}`, percent]
  const text = texts.find((one) => columns >= minCells + 2 + one.length) ?? ''
  const cells = Math.max(0, Math.min(maxCells, columns - text.length - 2))
  const lines = [`${bar(computeFraction(status), cells, colors)} ${text}`]
  const pace = formatPace(status, columns)
  return pace === '' ? lines : [...lines, colors.dim(pace)]
}

export const formatAmount = ({ amount, bytesDone, bytesTotal }: ProgressStatus): string =>
  amount ?? `${formatBytes(bytesDone)} of ${formatBytes(bytesTotal)}`

/** Rounds down to a whole percentage, so that the result is 100 only if the work is complete. */
export function computePercent(status: ProgressStatus): number {
  return Math.floor(computeFraction(status) * 100 + 1e-9)
}

export function computeFraction({ bytesDone, bytesTotal, fraction }: ProgressStatus): number {
  const share = fraction ?? (bytesTotal > 0 ? bytesDone / bytesTotal : 1)
  return Math.min(1, Math.max(0, share))
}

function bar(fraction: number, cells: number, colors: Colors): string {
  const halves = Math.floor(fraction * cells * 2)
  const full = Math.floor(halves / 2)
  const head = halves % 2 === 1 ? '╸' : ''
  const rest = cells - full - head.length
  // Without colors, the rest of the bar needs a different character.
  const way = colors.isEnabled ? colors.dim('━'.repeat(rest)) : '─'.repeat(rest)
  return colors.roe('━'.repeat(full) + head) + way
}

/** Joins the speed, the remarks and the remaining time. Omits parts from the end until the rest fits on one line. */
function formatPace(
  { bytesPerSecond, secondsLeft, remarks = [] }: ProgressStatus,
  columns: number,
): string {
  const parts = [
    ...(bytesPerSecond ? [`${formatBytes(bytesPerSecond)}/s`] : []),
    ...remarks,
    ...(secondsLeft === undefined ? [] : [`${formatSeconds(secondsLeft)} left`]),
  ]
  while (parts.length > 0 && parts.join('   ').length > columns) parts.pop()
  return parts.join('   ')
}
