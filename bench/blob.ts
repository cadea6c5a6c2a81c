import { join } from 'node:path'
import type { Bench } from './harness/bench.ts'
import { startNginx } from './harness/nginx.ts'
import { digits, median, megabytes } from './harness/numbers.ts'
import { readCpuSeconds, readPeakMemory } from './harness/process-usage.ts'
import { publishFile } from './harness/published-file.ts'
import { inTurns } from './harness/rounds.ts'
import { needRoom, temporaryFolder } from './harness/temporary-folder.ts'
import { needTools, runTool } from './harness/tool.ts'

const goal = 3

type Served = { wallSeconds: number; cpuSecondsPerGb: number; peakMemoryBytes: number | undefined }

export const bench: Bench = {
  summary: "the registry's blob route against nginx, in CPU seconds per GB",

  async run(options, report) {
    await needRoom(options.sizeBytes * 2.5)
    needTools('curl', 'nginx')
    using folder = temporaryFolder()
    const { source, registry, download } = await publishFile(folder.path, options.sizeBytes)
    await using _registry = registry
    await using nginx = await startNginx(source, join(folder.path, 'nginx'))
    report.title(`blob: ${(options.sizeBytes / 2 ** 30).toFixed(1)} GiB over loopback`)
    const sides = {
      shoal: { pid: registry.pid, url: download.direct_url },
      nginx: { pid: nginx.workerPid, url: nginx.url },
    }

    for (const connections of [1, 8]) {
      const serve =
        ({ pid, url }: { pid: number; url: string }) =>
        async (): Promise<Served> => {
          const before = readCpuSeconds(pid) ?? Number.NaN
          const part = Math.ceil(options.sizeBytes / connections)
          const ranges = Array.from({ length: connections }, (_, at) => {
            const end = Math.min(options.sizeBytes, (at + 1) * part) - 1
            return ['--range', `${at * part}-${end}`]
          })
          const parts = ranges.map((range) =>
            runTool('curl', ['--silent', '--fail', '-o', '/dev/null', ...range, url]),
          )
          const startedAt = performance.now()
          await Promise.all(parts)
          const wallSeconds = (performance.now() - startedAt) / 1000
          const cpu = (readCpuSeconds(pid) ?? Number.NaN) - before
          const cpuSecondsPerGb = cpu / (options.sizeBytes / 1e9)
          return { wallSeconds, cpuSecondsPerGb, peakMemoryBytes: readPeakMemory(pid) }
        }
      await serve(sides.shoal)()
      await serve(sides.nginx)()
      const rounds = await inTurns(options.rounds, {
        shoal: serve(sides.shoal),
        nginx: serve(sides.nginx),
      })
      const getMedian = (side: string, field: keyof Served) =>
        median((rounds[side] ?? []).map((one) => one[field] ?? Number.NaN))
      const ratio = getMedian('shoal', 'cpuSecondsPerGb') / getMedian('nginx', 'cpuSecondsPerGb')
      const row = (side: string, times: string) => [
        side,
        connections,
        digits(getMedian(side, 'cpuSecondsPerGb')),
        times,
        digits(options.sizeBytes / 1e6 / getMedian(side, 'wallSeconds')),
        megabytes(getMedian(side, 'peakMemoryBytes')),
      ]
      report.table(
        ['side', 'connections', 'CPU s/GB', `× nginx (goal ≤ ${goal})`, 'MB/s', 'peak memory MB'],
        [row('shoal', ratio.toFixed(2)), row('nginx', '1.00')],
      )
    }
  },
}
