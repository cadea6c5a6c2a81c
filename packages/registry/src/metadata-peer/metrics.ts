import { Counter, type Registry } from 'prom-client'

/** Counters of the metadata peer. */
export interface MetadataMetrics {
  /** Accepted connections. */
  connections: Counter
  /** Connections that received the complete metadata of a torrent. */
  served: Counter
  /** Connections refused because of a limit, a protocol error or an unknown torrent. */
  refused: Counter
}

export function metadataMetrics(registry: Registry): MetadataMetrics {
  const counter = (name: string, help: string) =>
    new Counter({ name: `shoal_metadata_peer_${name}_total`, help, registers: [registry] })
  return {
    connections: counter('connections', 'Connections that the metadata peer accepted'),
    served: counter('served', 'Connections that received the complete metadata of a torrent'),
    refused: counter(
      'refused',
      'Connections refused because of a limit, a protocol error or an unknown torrent',
    ),
  }
}
