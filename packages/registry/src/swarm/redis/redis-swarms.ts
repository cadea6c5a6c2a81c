import { classifyAddress, getNetwork } from '@shoal/core/addresses'
import { LRUCache } from 'lru-cache'
import type { SharedState } from '../../redis/open-redis.ts'
import { script } from '../../redis/run-script.ts'
import { isOneself, toPeerKey } from '../memory-swarm.ts'
import type { SwarmOptions } from '../memory-swarms.ts'
import { shuffle } from '../shuffle.ts'
import type { Peer, Refusal, SwarmCounts, Swarms } from '../swarm.ts'
import { swarmScripts } from './swarm-scripts.ts'

type Options = SwarmOptions & {
  /** How long a seeder count is reused. */
  maxSeedersAgeMs?: number
}

const defaultSeedersAgeMs = 2_000
const maxKnownSwarms = 10_000
const maxSeed = 2 ** 31
/** A peer takes about 1.5 KB in Redis, so the maximum number of peers takes 3 GB. */
const maxPeers = 2_000_000

const runAnnounce = script<[Refusal | '', number, number, number, string]>(swarmScripts.announce)
const runLeave = script<CountsAnswer>(swarmScripts.leave)
const runCount = script<CountsAnswer>(swarmScripts.count)
const runCountSeeders = script<number[]>(swarmScripts.countSeeders)
const runFind = script<string | null>(swarmScripts.find)
const runTotals = script<[number, number]>(swarmScripts.totals)

type CountsAnswer = [number, number, number]

/**
 * The swarms of a registry with several nodes, in Redis. Each method makes at most one call to Redis, and rejects if
 * Redis does not respond.
 */
export function redisSwarms(
  { redis, prefix }: Pick<SharedState, 'redis' | 'prefix'>,
  options: Options,
): Swarms {
  const { silentAfterMs, limits = {}, maxSeedersAgeMs = defaultSeedersAgeMs } = options
  const { peers: most = maxPeers, peersPerSwarm = most, peersPerNetwork = most } = limits
  const knownSeeders = new LRUCache<string, number>({ max: maxKnownSwarms, ttl: maxSeedersAgeMs })

  return {
    async announce(swarm, peer, { count, reaches }) {
      const roles = peer.isSeeder ? ['leecher'] : ['seeder', 'leecher']
      const groups = reaches.flatMap((reach) =>
        roles.map((role) => `${peer.kind}-${role}-${reach}`),
      )
      const [refusal, seeders, size, completed, records] = await runAnnounce(redis, prefix, [
        silentAfterMs,
        swarm,
        toPeerKey(peer),
        formatRecord(peer),
        ...[most, peersPerSwarm, peersPerNetwork, count],
        Math.floor(Math.random() * maxSeed),
        ...groups,
      ])
      const drawn = records === '' ? [] : records.split('\n').map(parseDrawn)
      const others = drawn.filter((other) => !isOneself(peer, other.peer))
      const chosen = shuffle(others).slice(0, count)
      return {
        refusal: refusal === '' ? undefined : refusal,
        peers: chosen.sort((one, other) => one.seenAt - other.seenAt).map((one) => one.peer),
        counts: toCounts([seeders, size, completed]),
      }
    },

    async leave(swarm, peer) {
      const proof = peer.kind === 'browser' ? peer.channel : peer.peerId
      const args = [silentAfterMs, swarm, toPeerKey(peer), proof]
      return toCounts(await runLeave(redis, prefix, args))
    },

    counts: async (swarm) => toCounts(await runCount(redis, prefix, [silentAfterMs, swarm])),

    async findBrowser(swarm, peerId) {
      const record = await runFind(redis, prefix, [silentAfterMs, swarm, peerId])
      const peer = record === null ? undefined : parseRecord(record)
      return peer?.kind === 'browser' ? peer : undefined
    },

    async countSeeders(swarms) {
      const unknown = swarms.filter((swarm) => !knownSeeders.has(swarm))
      if (unknown.length > 0) {
        const counted = await runCountSeeders(redis, prefix, [silentAfterMs, ...unknown])
        for (const [index, swarm] of unknown.entries()) knownSeeders.set(swarm, counted[index] ?? 0)
      }
      return new Map(swarms.map((swarm) => [swarm, knownSeeders.get(swarm) ?? 0]))
    },

    seedersVersion: () => Math.floor(performance.now() / Math.max(1, maxSeedersAgeMs)),

    async totals() {
      const [swarms, peers] = await runTotals(redis, prefix, [silentAfterMs])
      return { swarms, peers }
    },

    async close() {
      knownSeeders.clear()
    },
  }
}

function formatRecord(peer: Peer): string {
  const group = `${peer.kind}-${peer.isSeeder ? 'seeder' : 'leecher'}-${classifyAddress(peer.address)}`
  const end = peer.kind === 'tcp' ? peer.port : peer.channel
  const network = Buffer.from(getNetwork(peer.address), 'latin1').toString('hex')
  return `${group} ${network} ${peer.peerId} ${peer.address} ${end}`
}

/** Parses the time of a peer's last announce, in milliseconds, and its record. */
function parseDrawn(line: string) {
  const seenEnd = line.indexOf(' ')
  return { seenAt: Number(line.slice(0, seenEnd)), peer: parseRecord(line.slice(seenEnd + 1)) }
}

/**
 * Searches for the spaces, which is faster than splitting the text. This matters because one announce can require
 * parsing 102 records.
 */
function parseRecord(record: string): Peer {
  const groupEnd = record.indexOf(' ')
  const networkEnd = record.indexOf(' ', groupEnd + 1)
  const peerIdEnd = record.indexOf(' ', networkEnd + 1)
  const addressEnd = record.indexOf(' ', peerIdEnd + 1)
  const isSeeder = record.lastIndexOf('-seeder-', groupEnd) !== -1
  const peerId = record.slice(networkEnd + 1, peerIdEnd)
  const address = record.slice(peerIdEnd + 1, addressEnd)
  const end = record.slice(addressEnd + 1)
  return record.startsWith('browser-')
    ? { kind: 'browser', peerId, address, channel: end, isSeeder }
    : { kind: 'tcp', peerId, address, port: Number(end), isSeeder }
}

const toCounts = ([seeders, size, completed]: CountsAnswer): SwarmCounts => ({
  complete: seeders,
  incomplete: size - seeders,
  completed,
})
