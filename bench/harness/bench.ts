import type { Report } from './report.ts'

export type BenchOptions = {
  /** The number of times that each side of a comparison is run; the sides alternate. */
  rounds: number
  /** The duration of one round of load. */
  seconds: number
  connections: number
  /** The number of models in the registry. */
  models: number
  /** The size of the transferred file. */
  sizeBytes: number
  /** The number of threads for inference. */
  threads: number
  /** The folder of the filled registry, which is kept for the next run; if undefined, a temporary folder is used. */
  data: string | undefined
  /** The parts of a benchmark to run; all of them if empty. */
  only: string[]
  /** Whether to also profile the registry's process. */
  profile: boolean
  /** Whether to build llama.cpp's server, unless it has been built before. */
  buildsLlamaServer: boolean
}

export type Bench = {
  summary: string
  run(options: BenchOptions, report: Report): Promise<void>
}

export function isWanted({ only }: BenchOptions, part: string): boolean {
  return only.length === 0 || only.includes(part)
}
