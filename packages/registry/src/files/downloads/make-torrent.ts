import { infoDictionary, torrentFile } from '@shoal/model-file'
import type { Site } from '../../http/site.ts'
import type { BlobRepository } from '../rows/blob-repository.ts'
import type { Capabilities, CapableFile } from './capability.ts'
import { torrentAddresses } from './get-download.ts'

export type TorrentDependencies = { blobs: BlobRepository; capabilities: Capabilities; site: Site }

/** Creates the torrent of a ready file (BEP 3), with the registry as web seed and tracker. */
export async function makeTorrent(
  { blobs, capabilities, site }: TorrentDependencies,
  file: CapableFile,
): Promise<Uint8Array> {
  const { hashes } = await blobs.get(file.blob_hash ?? '')
  const { announce, webSeed } = torrentAddresses({ capabilities, site }, file)
  return torrentFile({
    info: infoDictionary({
      filename: file.filename,
      fileSizeBytes: hashes.fileSizeBytes,
      pieceLength: hashes.pieceLength,
      pieceHashes: hashes.pieceHashes,
      isPrivate: file.is_public === 0,
    }),
    announce,
    webSeeds: [webSeed],
    createdBy: 'shoal',
  })
}
