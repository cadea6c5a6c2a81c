import { digits, median, megabytes } from './numbers.ts'
import type { Report } from './report.ts'
import type { Usage } from './tool.ts'

/** Reports one row for each side. Each time is also shown as a multiple of the time of `baseline`. */
export function reportUsage(report: Report, rounds: Record<string, Usage[]>, baseline: string) {
  const getMedianSeconds = (side: string) =>
    median((rounds[side] ?? []).map((one) => one.wallSeconds))
  const head = [
    'side',
    'wall s',
    `× ${baseline}`,
    'fastest s',
    'slowest s',
    'CPU s',
    'peak memory MB',
  ]
  const rows = Object.entries(rounds).map(([side, usages]) => {
    const walls = usages.map((one) => one.wallSeconds)
    const cpu = usages.flatMap(({ cpuSeconds }) => cpuSeconds ?? [])
    const memory = usages.flatMap(({ peakMemoryBytes }) => peakMemoryBytes ?? [])
    return [
      side,
      digits(getMedianSeconds(side)),
      (getMedianSeconds(side) / getMedianSeconds(baseline)).toFixed(2),
      digits(Math.min(...walls)),
      digits(Math.max(...walls)),
      digits(median(cpu)),
      megabytes(median(memory)),
    ]
  })
  report.table(head, rows)
}
