/** Looks up imported files in a registry by their SHA-256. */
import { hostOf, isModelFilename, isModelName } from '@shoal/core/references'
import type { FoundFile, HashedFile, ImportOptions } from '@shoal/transfer'
import type { Context } from '../context.ts'
import { openProgress } from '../terminal/progress.ts'

/** The maximum number of hashes in one request. */
const maxHashes = 1_000

type Twin = NonNullable<ImportOptions['twin']>

/** Returns the registry's file with the SHA-256 of `file`, if any, and the hashes of `file` if it had to be hashed. */
export type FindTwin = (
  file: FoundFile,
) => Promise<{ twin: Twin | undefined; hashed?: HashedFile | undefined }>

/**
 * Looks up all files whose hashes are known from their stores, in the registry that `--registry` specifies. Returns a
 * function that returns the result for one file. If the hash of that file is not known yet, the function first hashes
 * the file and looks it up. Without `--registry`, returns undefined: no file is hashed, and no hash is sent to a
 * registry.
 */
export async function lookUpTwins(
  context: Context,
  files: readonly FoundFile[],
): Promise<FindTwin | undefined> {
  if (context.options.registry === undefined) return undefined
  const { hashFoundFile, listLocalFiles } = await import('@shoal/transfer')
  const { client, address } = await context.openRegistry()
  const signal = context.takeStopSignal()
  const twins = new Map<string, Twin>()

  async function ask(hashes: readonly string[]) {
    for (const { sha256_hash, ...file } of await client.lookUpFiles(hashes, signal)) {
      if (!isModelName(file.model_name) || !isModelFilename(file.filename)) continue
      twins.set(sha256_hash, { ...file, registry: address, host: hostOf(address) })
    }
  }

  const hashes = [...new Set(files.flatMap(({ sha256 }) => sha256 ?? []))]
  for (let start = 0; start < hashes.length; start += maxHashes) {
    await ask(hashes.slice(start, start + maxHashes))
  }
  const known = await listLocalFiles(context.places.models)

  return async (file) => {
    if (file.sha256 !== undefined) return { twin: twins.get(file.sha256) }
    const progress = await openProgress(context.printer, file.filename)
    const bytesTotal = file.sizeBytes
    const onProgress = (bytesDone: number) => {
      progress.event({ type: 'hashing', bytesDone, bytesTotal })
      progress.update({ bytesDone, bytesTotal, remarks: [`hashing ${file.filename}`] })
    }
    const hashed = await hashFoundFile(file, { known, signal, onProgress }).finally(progress.end)
    const { sha256_hash } = hashed.hashes
    await ask([sha256_hash])
    return { twin: twins.get(sha256_hash), hashed }
  }
}
