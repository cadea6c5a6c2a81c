import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeGgufFile } from '@shoal/model-file/testing'
import { type Machine, makeNeighbours } from '../testing/neighbours.ts'
import type { Bench } from './harness/bench.ts'
import { digits, median } from './harness/numbers.ts'
import { startRegistry } from './harness/registry.ts'
import { inTurns } from './harness/rounds.ts'
import { runShoal } from './harness/shoal.ts'
import { type Place, startShoalAt } from './harness/shoal-at.ts'
import { needRoom, temporaryFolder } from './harness/temporary-folder.ts'

const fileBytes = 128 * 1024 ** 2
/** The bandwidth between the registry and each machine. */
const lineRate = '40mbit'

type Round = { wallSeconds: number; foundSeconds: number; share: number }
type Source = { bytes: number; is_peer: boolean }

export const bench: Bench = {
  summary: 'pull over a slow connection, with a seeder on the local network',

  async run({ rounds }, report) {
    await needRoom(fileBytes * 4)
    using folder = temporaryFolder()
    const data = await publish(folder.path)
    using machines = makeNeighbours()
    const { registry, registryAddress, first, second } = machines
    const registryUrl = `http://${registryAddress}:8000`
    const placeAt = (machine: Machine, home: string): Place => ({
      machine,
      registryUrl,
      home: join(folder.path, home),
    })

    const address = ['--host', '0.0.0.0', '--port', '8000', '--base-url', registryUrl]
    const up = ['registry', '--data', data, ...address]
    await using running = startShoalAt(placeAt(registry, 'operator'), ...up)
    await running.waitForOutput('Ctrl-C')
    const sharer = placeAt(first, 'sharer')
    await startShoalAt(sharer, 'pull', 'near').end()
    await using sharing = startShoalAt(sharer, 'seed')
    await sharing.waitForOutput('1 file')
    for (const line of ['line-1', 'line-2']) registry.limit(line, lineRate)

    const puller = placeAt(second, 'puller')
    const results = await inTurns(rounds, {
      'registry and peer': () => pull(puller),
      'peer only': () => pull(puller, '--only-peers'),
      'registry only': () => pull(puller, '--no-peers'),
    })
    const getMedian = (side: string, field: keyof Round) =>
      median((results[side] ?? []).map((round) => round[field]))
    report.title(`local network: 128 MiB, ${lineRate} from the registry`)
    report.table(
      [
        'side',
        'wall s',
        '× registry only',
        'time to the first piece from the peer, s',
        'bytes from the peer',
      ],
      Object.keys(results).map((side) => [
        side,
        digits(getMedian(side, 'wallSeconds')),
        (getMedian(side, 'wallSeconds') / getMedian('registry only', 'wallSeconds')).toFixed(2),
        digits(getMedian(side, 'foundSeconds')),
        `${(getMedian(side, 'share') * 100).toFixed(0)} %`,
      ]),
    )
  },
}

/** Publishes the file, and returns the registry's data directory. */
async function publish(folder: string): Promise<string> {
  const dataDirectory = join(folder, 'registry')
  const source = join(folder, 'near.Q8_0.gguf')
  await writeGgufFile(source, fileBytes)
  await using registry = await startRegistry({ dataDirectory })
  const publisher = { home: join(folder, 'publisher'), registry: registry.answer }
  await runShoal(['push', source, '--name', 'near'], publisher)
  return dataDirectory
}

async function pull(place: Place, ...words: string[]): Promise<Round> {
  rmSync(place.home, { recursive: true, force: true })
  await using pulling = startShoalAt(place, 'pull', 'near', '--json', '--progress=json', ...words)
  const hasPeers = !words.includes('--no-peers')
  const foundSeconds = hasPeers ? await pulling.waitForOutput('"isPeer":true') : Number.NaN
  const { seconds: wallSeconds, output } = await pulling.end()
  const sources: Source[] = JSON.parse(output).sources
  const sumBytes = (some: Source[]) => some.reduce((sum, { bytes }) => sum + bytes, 0)
  const share = sumBytes(sources.filter(({ is_peer }) => is_peer)) / sumBytes(sources)
  return { wallSeconds, foundSeconds, share }
}
