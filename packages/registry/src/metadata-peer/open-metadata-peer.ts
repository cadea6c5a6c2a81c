import type { Log } from '@shoal/log'
import type { Kysely } from 'kysely'
import type { Registry } from 'prom-client'
import type { Database } from '../database/schema.ts'
import { type MetadataPeer, startMetadataPeer } from './metadata-peer.ts'
import { metadataMetrics } from './metrics.ts'
import { metadataSource } from './source.ts'

type Dependencies = {
  config: { host: string; peerPort: number | undefined; isAnonymousReadAllowed: boolean }
  db: Kysely<Database>
  metrics: Registry
  log: Pick<Log, 'warn'>
}

/**
 * Starts the metadata peer if a port is configured for it and the registry is public. A members-only registry has no
 * metadata peer, because the peer serves anyone who connects.
 */
export async function openMetadataPeer(
  dependencies: Dependencies,
): Promise<MetadataPeer | undefined> {
  const { config, db, metrics, log } = dependencies
  const { host, peerPort, isAnonymousReadAllowed } = config
  if (peerPort === undefined || !isAnonymousReadAllowed) return undefined
  return startMetadataPeer({
    host,
    port: peerPort,
    source: metadataSource(db),
    metrics: metadataMetrics(metrics),
    log,
  })
}
