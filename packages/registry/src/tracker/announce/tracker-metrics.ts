import { Counter, Gauge, type Registry } from 'prom-client'
import type { Refusal, Swarms } from '../../swarm/swarm.ts'

export interface TrackerMetrics {
  announces: Counter<'protocol' | 'event' | 'outcome'>
  scrapes: Counter<'protocol' | 'outcome'>
  /** Peers and WebSockets that were refused because of a limit. */
  refused: Counter<'limit'>
  /** Offers and answers relayed between browsers. */
  relayed: Counter<'kind'>
  /** Open WebSockets. */
  sockets: Gauge
}

const limits: (Refusal | 'sockets')[] = ['total', 'swarm', 'network', 'peer_id', 'sockets']

/** The tracker's metrics, in Prometheus' format. */
export function trackerMetrics(registry: Registry, swarms: Swarms): TrackerMetrics {
  const registers = [registry]
  const announces = new Counter({
    name: 'shoal_tracker_announces_total',
    help: 'Announces, by protocol, event and outcome',
    labelNames: ['protocol', 'event', 'outcome'] as const,
    registers,
  })
  const scrapes = new Counter({
    name: 'shoal_tracker_scrapes_total',
    help: 'Scrapes, by protocol and outcome',
    labelNames: ['protocol', 'outcome'] as const,
    registers,
  })
  const refused = new Counter({
    name: 'shoal_tracker_refused_total',
    help: 'Peers and WebSockets above a limit, by limit',
    labelNames: ['limit'] as const,
    registers,
  })
  for (const limit of limits) refused.inc({ limit }, 0)
  const relayed = new Counter({
    name: 'shoal_tracker_relayed_total',
    help: 'Offers and answers relayed between browsers',
    labelNames: ['kind'] as const,
    registers,
  })
  const sockets = new Gauge({
    name: 'shoal_tracker_sockets',
    help: 'Open WebSockets',
    registers,
  })
  new Gauge({
    name: 'shoal_tracker_peers',
    help: 'Peers, counted once per swarm',
    registers,
    async collect() {
      this.set((await swarms.totals()).peers)
    },
  })
  new Gauge({
    name: 'shoal_tracker_swarms',
    help: 'Torrents with at least one peer',
    registers,
    async collect() {
      this.set((await swarms.totals()).swarms)
    },
  })
  return { announces, scrapes, refused, relayed, sockets }
}
