import { hasCode } from '@shoal/core/errors'
import type { Download, ModelFile, RegistryClient } from '@shoal/protocol/client'
import { type Manifest, parseManifest } from '../chunks/manifest.ts'
import { keepDownload, readKeptDownload, toDownloadIdentity } from '../disk/kept-download.ts'

type Wanted = { client: RegistryClient; modelName: string; file: ModelFile; path: string }

export type FoundDownload = {
  download: Download
  manifest: Manifest
  /** Whether `download` was saved by an earlier run. */
  isKept: boolean
  /** Requests the download again, which counts as another download, and saves the registry's response. */
  renew: () => Promise<Download>
}

/**
 * Returns the URLs and the manifest of a download. Uses the response saved by an earlier run if it is usable;
 * otherwise, requests a new one and saves it.
 */
export async function findDownload(
  { client, modelName, file, path }: Wanted,
  signal: AbortSignal,
): Promise<FoundDownload> {
  const identity = toDownloadIdentity(client.baseUrl, file)

  async function renew() {
    const download = await client.getDownload(modelName, file.id, signal)
    parseManifest(download, file) // throws before an inconsistent response is saved
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
