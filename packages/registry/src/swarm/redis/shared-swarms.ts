import type { SharedState } from '../../redis/open-redis.ts'
import { memorySwarms, type SwarmOptions } from '../memory-swarms.ts'
import type { Swarms } from '../swarm.ts'
import { redisSwarms } from './redis-swarms.ts'

/**
 * Swarms in Redis. While Redis does not respond, each node uses its own swarms, which clients join with their next
 * announce.
 */
export function sharedSwarms(state: SharedState, options: SwarmOptions): Swarms {
  const shared = redisSwarms(state, options)
  const own = memorySwarms(options)
  const use = <T>(call: (swarms: Swarms) => Promise<T>) =>
    state.use(
      () => call(shared),
      () => call(own),
    )
  return {
    announce: (...announce) => use((swarms) => swarms.announce(...announce)),
    leave: (...peer) => use((swarms) => swarms.leave(...peer)),
    counts: (swarm) => use((swarms) => swarms.counts(swarm)),
    findBrowser: (...peer) => use((swarms) => swarms.findBrowser(...peer)),
    countSeeders: (names) => use((swarms) => swarms.countSeeders(names)),
    totals: () => use((swarms) => swarms.totals()),
    seedersVersion: () =>
      state.isGone() ? `own ${own.seedersVersion()}` : `shared ${shared.seedersVersion()}`,
    async close() {
      await Promise.all([shared.close(), own.close()])
    },
  }
}
