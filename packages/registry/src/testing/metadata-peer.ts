import { randomBytes } from 'node:crypto'
import { infoDictionary, infoHash } from '@shoal/model-file'
import { Registry } from 'prom-client'
import { onTestFinished } from 'vitest'
import { computeReq2Hash } from '../database/req2-hash.ts'
import { startMetadataPeer } from '../metadata-peer/metadata-peer.ts'
import { metadataMetrics } from '../metadata-peer/metrics.ts'
import type { MetadataSource } from '../metadata-peer/source.ts'

/** The info dictionary of a file with 5,000 pieces, which takes seven blocks of metadata. */
export const bigInfo = Buffer.from(
  infoDictionary({
    filename: 'tide.gguf',
    fileSizeBytes: 5_000 * 2 ** 20,
    pieceLength: 2 ** 20,
    pieceHashes: randomBytes(5_000 * 20),
    isPrivate: false,
  }),
)
export const bigInfoHash = infoHash(bigInfo)

/** A metadata source that contains only the torrent of `bigInfo`. */
export const bigInfoSource: MetadataSource = {
  find: async (hash) => (hash === bigInfoHash ? { readInfo: async () => bigInfo } : undefined),
  findInfoHash: async (hash) => (hash === computeReq2Hash(bigInfoHash) ? bigInfoHash : undefined),
}

type Settings = Partial<Parameters<typeof startMetadataPeer>[0]>

/** Starts a metadata peer on loopback, and closes it when the running test has finished. */
export async function startTestPeer(settings: Settings = {}) {
  const registry = new Registry()
  const warnings: string[] = []
  const peer = await startMetadataPeer({
    host: '127.0.0.1',
    port: 0,
    source: bigInfoSource,
    metrics: metadataMetrics(registry),
    log: { warn: (_details, message) => warnings.push(message) },
    ...settings,
    limits: { closingMs: 200, ...settings.limits },
  })
  onTestFinished(() => peer.close())
  const count = async (name: 'connections' | 'served' | 'refused') =>
    (await registry.getSingleMetric(`shoal_metadata_peer_${name}_total`)?.get())?.values[0]?.value
  return { peer, count, warnings }
}
