import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeGgufFile } from '@shoal/model-file/testing'
import type { Bench } from './harness/bench.ts'
import { startCappedProxy } from './harness/capped-proxy.ts'
import { digits, median } from './harness/numbers.ts'
import { startRegistry } from './harness/registry.ts'
import { inTurns } from './harness/rounds.ts'
import { runShoal } from './harness/shoal.ts'
import { needRoom, temporaryFolder } from './harness/temporary-folder.ts'

const leechers = 8
const fileBytes = 128 * 1024 ** 2
const originBytesPerSecond = 6e6
const goalShare = 0.18

type Round = { last: number; first: number; share: number; cpuSeconds: number }

export const bench: Bench = {
  summary:
    'eight concurrent pulls from a slow registry: bytes sent, and time until the last one ends',

  async run({ rounds }, report) {
    await needRoom(fileBytes * (leechers + 3))
    using folder = temporaryFolder()
    await using proxy = await startCappedProxy(originBytesPerSecond)
    const dataDirectory = join(folder.path, 'registry')
    await using registry = await startRegistry({ dataDirectory, baseUrl: proxy.url })
    proxy.leadTo(registry.answer.listensAt)
    const source = join(folder.path, 'swarm.Q8_0.gguf')
    await writeGgufFile(source, fileBytes)
    const address = { ...registry.answer, url: proxy.url }
    const home = join(folder.path, 'publisher')
    await runShoal(['push', source, '--name', 'swarm'], { home, registry: address })

    const pullAll =
      (...words: string[]) =>
      async (): Promise<Round> => {
        proxy.takeSentBytes()
        const usages = await Promise.all(
          Array.from({ length: leechers }, (_, index) => {
            const target = join(folder.path, `leecher-${index}`)
            rmSync(target, { recursive: true, force: true })
            return runShoal(['pull', 'swarm', '--yes', ...words], {
              home: target,
              registry: address,
            })
          }),
        )
        const seconds = usages.map(({ wallSeconds }) => wallSeconds)
        return {
          last: Math.max(...seconds),
          first: Math.min(...seconds),
          share: proxy.takeSentBytes() / (leechers * fileBytes),
          cpuSeconds: usages.reduce((sum, one) => sum + (one.cpuSeconds ?? Number.NaN), 0),
        }
      }
    const results = await inTurns(rounds, {
      'registry and peers': pullAll(),
      'registry only': pullAll('--no-peers'),
    })
    const getMedian = (side: string, field: keyof Round) =>
      median((results[side] ?? []).map((round) => round[field]))
    report.title(`swarm: ${leechers} leechers pull 128 MiB each, registry limited to 6 MB/s`)
    report.table(
      [
        'side',
        'last client done, s',
        '× registry only',
        'first client done, s',
        `bytes from the registry (goal ≤ ${goalShare * 100} %)`,
        'CPU s in total',
      ],
      Object.keys(results).map((side) => [
        side,
        digits(getMedian(side, 'last')),
        (getMedian(side, 'last') / getMedian('registry only', 'last')).toFixed(2),
        digits(getMedian(side, 'first')),
        `${(getMedian(side, 'share') * 100).toFixed(1)} %`,
        digits(getMedian(side, 'cpuSeconds')),
      ]),
    )
  },
}
