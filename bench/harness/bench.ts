import type { Report } from './report.ts'

export type BenchOptions = {
  /** How often each side of a comparison runs; sides take turns. */
  rounds: number
  /** How long one round of load lasts. */
  seconds: number
  connections: number
  /** Models in the registry. */
  models: number
  /** Bytes of the file that is moved. */
  sizeBytes: number
  /** Threads that compute with a model. */
  threads: number
  /** A folder that keeps the filled registry from run to run; a temporary one without it. */
  data: string | undefined
  /** Parts of a bench to run; all without it. */
  only: string[]
  /** Also profile the registry's process. */
  profile: boolean
}

export type Bench = {
  summary: string
  run(options: BenchOptions, report: Report): Promise<void>
}

export function isWanted({ only }: BenchOptions, part: string): boolean {
  return only.length === 0 || only.includes(part)
}
