import { hasCode } from '@shoal/core/errors'
import type { Download, ModelFile, RegistryClient } from '@shoal/protocol/client'
import { type Manifest, parseManifest } from '../chunks/manifest.ts'
import { keepDownload, readKeptDownload, toDownloadIdentity } from '../disk/kept-download.ts'

type Wanted = { client: RegistryClient; modelName: string; file: ModelFile; path: string }

export type FoundDownload = {
  download: Download
  manifest: Manifest
  /** The registry said it to an earlier run. */
  isKept: boolean
  /** Asks the registry, which counts as another download, and keeps the answer. */
  renew: () => Promise<Download>
}

/** How the file can be had: what an earlier run has kept, or else what the registry says, which is kept. */
export async function findDownload(
  { client, modelName, file, path }: Wanted,
  signal: AbortSignal,
): Promise<FoundDownload> {
  const identity = toDownloadIdentity(client.baseUrl, file)

  async function renew() {
    const download = await client.getDownload(modelName, file.id, signal)
    parseManifest(download, file) // what does not add up is not kept
    await keepDownload(path, identity, download)
    return download
  }

  const kept = await readKeptDownload(path, identity)
  const keptManifest = kept && tryParseManifest(kept, file)
  if (kept && keptManifest) return { download: kept, manifest: keptManifest, isKept: true, renew }
  const download = await renew()
  return { download, manifest: parseManifest(download, file), isKept: false, renew }
}

function tryParseManifest(kept: Download, file: ModelFile): Manifest | undefined {
  try {
    return parseManifest(kept, file)
  } catch (error) {
    if (hasCode(error, 'verification_failed')) return undefined
    throw error
  }
}
