/**
 * Announces to swarms in Redis, without HTTP. Each caller announces the next peer when Redis has responded to the
 * previous announce. This process measures its own CPU time.
 */
import { openRedis } from '../../packages/registry/src/redis/open-redis.ts'
import { sharedSwarms } from '../../packages/registry/src/swarm/redis/shared-swarms.ts'
import { answer, readInput } from './child.ts'

export type SwarmAnnouncesInput = {
  redisUrl: string
  peers: number
  peersPerSwarm: number
  /** Number of concurrent callers. */
  callers: number
  seconds: number
}

const { redisUrl, peers, peersPerSwarm, callers, seconds } = await readInput<SwarmAnnouncesInput>()
const print = (_details: object, message: string) => console.error(message)
const log = { info: print, warn: print }
const state = await openRedis(redisUrl, { prefix: 'bench:', log })
const swarms = sharedSwarms(state, { silentAfterMs: 1_800_000 })
const swarmCount = peers / peersPerSwarm
let next = 0
let announces = 0

await announceFor(1.5) // warm-up: fills the swarms, and lets V8 compile the code
announces = 0
const before = process.cpuUsage()
await announceFor(seconds)
const { user, system } = process.cpuUsage(before)
await answer(announces / ((user + system) / 1e6))
state.close()
process.disconnect()

/** Announces the peers in turn for this duration. Every fourth peer is a seeder. */
async function announceFor(duration: number) {
  const endsAt = performance.now() + duration * 1000
  const call = async () => {
    while (performance.now() < endsAt) {
      const peer = next++ % peers
      const peerId = peer.toString(16).padStart(40, '0')
      const address = `10.${peer >> 16}.${(peer >> 8) & 0xff}.${peer & 0xff}`
      await swarms.announce(
        `swarm ${peer % swarmCount}`,
        { kind: 'tcp', peerId, address, port: 6881, isSeeder: peer % 4 === 0 },
        { count: 50, reaches: ['public', 'private'] },
      )
      announces += 1
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
}
