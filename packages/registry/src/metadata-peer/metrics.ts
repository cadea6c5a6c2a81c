import { Counter, type Registry } from 'prom-client'

/** What the metadata peer counts. */
export interface MetadataMetrics {
  /** Connections that it took. */
  connections: Counter
  /** Those that were given the metadata of a torrent, all of it. */
  served: Counter
  /** Those turned away: too many, not BitTorrent, or no public torrent of ours. */
  refused: Counter
}

export function metadataMetrics(registry: Registry): MetadataMetrics {
  const counter = (name: string, help: string) =>
    new Counter({ name: `shoal_metadata_peer_${name}_total`, help, registers: [registry] })
  return {
    connections: counter('connections', 'Connections that the metadata peer took'),
    served: counter('served', 'Connections that were given the metadata of a torrent, all of it'),
    refused: counter(
      'refused',
      'Connections turned away: too many, not BitTorrent, or no public torrent of ours',
    ),
  }
}
