/** Faults in which the log is not read, the clock jumps, or the data is copied while the registry is running. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openCopy } from './copy-registry.ts'
import type { Fault, Round } from './fault.ts'
import { checkEverything } from './harness/checks.ts'
import { toCopyLedger } from './harness/ledger.ts'
import { until } from './harness/waiting.ts'
import { removeAbandonedClocks, shiftedBy } from './shifted-clock.ts'

/**
 * The number of requests while the log is not read. Each request logs about 200 bytes, so together they log more than a
 * pipe (64 KiB) and a moderate buffer can hold.
 */
const requestsUnread = 2_000
const batchSize = 20
/** The name is too long, so the request is refused before it is routed. */
const longPath = `/v1/models/${'a-long-name-'.repeat(80)}`
const hourMs = 3_600_000

export const environmentFaults: Fault[] = [
  {
    name: 'log-unread',
    summary:
      'Log to a pipe that is not read; on every other seed, send SIGTERM before the pipe is read again.',
    needs: [],
    engines: ['sqlite'],
    arrange: () => ({ hasPipedLog: true, strike: leaveLogUnread }),
  },
  {
    name: 'clock',
    summary:
      "Set the registry's clock an hour ahead and back; on some seeds, kill the registry in between.",
    needs: ['libfaketime'],
    engines: ['sqlite', 'postgres'],
    arrange({ folder, cleanup }) {
      cleanup.defer(removeAbandonedClocks)
      const clock = join(folder, 'clock')
      writeFileSync(clock, '+0')
      return { env: shiftedBy(clock), strike: (round) => jump(round, clock) }
    },
  },
  {
    name: 'copy',
    summary:
      'Copy the data while the registry is running, as documented, and start another registry with the copy.',
    needs: [],
    engines: ['sqlite', 'postgres'],
    arrange: () => ({ strike: copyWhileServing }),
  },
]

async function leaveLogUnread({ registry, world, seed, startLoad }: Round) {
  const load = startLoad()
  for (let asked = 0; asked < requestsUnread; asked += batchSize) {
    const calls = Array.from({ length: batchSize }, () => longPath)
    const replies = await Promise.all(calls.map((path) => world.client.get(path)))
    if (replies.some(({ status }) => status === 'late')) break // the client has already reported it
  }
  await world.client.get('/healthz')
  if (seed % 2 === 0) await registry.stop()
  else registry.readLog()
  await load.stop()
  if (!registry.isRunning()) await registry.start()
  registry.readLog()
}

/** Sets the registry's clock, and waits until the date of its responses has changed. */
async function setClock({ world, timeoutFactor }: Round, clockFile: string, shiftSeconds: number) {
  writeFileSync(clockFile, `+${shiftSeconds}`)
  await until('the clock is set', 20_000 * timeoutFactor, async () => {
    const { headers } = await world.client.get('/healthz')
    const aheadMs = Date.parse(headers.date ?? '') - Date.now()
    return Math.abs(aheadMs - shiftSeconds * 1_000) < hourMs / 2
  })
}

async function jump(round: Round, clockFile: string) {
  const { registry, seed, startLoad } = round
  const load = startLoad({ weights: { push: 10, like: 20 }, largeShare: 0.2 })
  await load.untilDone('ready', 2)
  await setClock(round, clockFile, 3_600)
  await load.untilDone('like', 10)
  await load.untilDone('submit', 2)
  // The database depends on whether the seed is odd. To cover both databases, the registry is killed on two consecutive
  // seeds and not on the next two.
  const hasCrash = seed % 4 < 2
  if (hasCrash) await registry.kill() // after the clock is set back, leases end more than an hour in the future
  if (hasCrash) {
    writeFileSync(clockFile, '+0')
    await registry.start()
  } else await setClock(round, clockFile, 0)
  await load.untilDone('like', 20)
  await load.stop()
}

async function copyWhileServing(round: Round) {
  const { world, startLoad } = round
  const load = startLoad({ weights: { deleteFile: 3 } })
  await load.untilDone('push', 3)
  const before = structuredClone(world.ledger)
  const copy = await openCopy(round)
  await load.stop()
  const ledger = toCopyLedger(before, structuredClone(world.ledger))

  await copy.registry.start()
  await checkEverything({ ...copy.world, contents: world.contents, ledger }, { isCopy: true })
  await copy.registry.stop()
}
