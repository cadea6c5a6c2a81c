import { Counter, Gauge, type Registry } from 'prom-client'
import type { Swarms } from '../../swarm/swarm.ts'

export interface TrackerMetrics {
  announces: Counter<'protocol' | 'event' | 'outcome'>
  scrapes: Counter<'protocol' | 'outcome'>
  /** Offers and answers passed on between browsers. */
  relayed: Counter<'kind'>
  /** WebSockets that are open. */
  sockets: Gauge
}

/** What the tracker counts, in Prometheus' format. */
export function trackerMetrics(registry: Registry, swarms: Swarms): TrackerMetrics {
  const registers = [registry]
  const announces = new Counter({
    name: 'shoal_tracker_announces_total',
    help: 'Announces, by how they came, what they said and whether they were answered or refused',
    labelNames: ['protocol', 'event', 'outcome'] as const,
    registers,
  })
  const scrapes = new Counter({
    name: 'shoal_tracker_scrapes_total',
    help: 'Scrapes, by how they came and whether they were answered or refused',
    labelNames: ['protocol', 'outcome'] as const,
    registers,
  })
  const relayed = new Counter({
    name: 'shoal_tracker_relayed_total',
    help: 'Offers and answers passed on between browsers',
    labelNames: ['kind'] as const,
    registers,
  })
  const sockets = new Gauge({
    name: 'shoal_tracker_sockets',
    help: 'WebSockets that are open',
    registers,
  })
  new Gauge({
    name: 'shoal_tracker_peers',
    help: 'Peers, each as often as it is in a swarm',
    registers,
    async collect() {
      this.set((await swarms.totals()).peers)
    },
  })
  new Gauge({
    name: 'shoal_tracker_swarms',
    help: 'Torrents that somebody has or wants',
    registers,
    async collect() {
      this.set((await swarms.totals()).swarms)
    },
  })
  return { announces, scrapes, relayed, sockets }
}
