/** Creates model stores in the formats of other programs, with real models. */
import { createHash } from 'node:crypto'
import { copyFile, mkdir, readFile, rename, symlink, truncate, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { hashFileInWorker } from '@shoal/model-file'
import { nanoPath } from './local-files.ts'

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

type OllamaModel = {
  /** The folder of the store, such as `~/.ollama/models`. */
  store: string
  /** `<host>/<namespace>/<model>/<tag>`. Default: `registry.ollama.ai/library/tide/latest`. */
  name?: string
  /** The GGUF file. Default: a real model of 1 MB. */
  from?: string
  license?: string
  system?: string
  parameters?: object
  /** The size to which the file is extended as a sparse file, which uses no additional disk space. */
  sizeBytes?: number
}

/** Adds a model to an Ollama store. Returns the path of the blob with its weights. */
export async function putOllamaModel({
  store,
  name,
  from = nanoPath,
  license,
  system,
  parameters,
  sizeBytes,
}: OllamaModel) {
  const manifest = join(store, 'manifests', name ?? 'registry.ollama.ai/library/tide/latest')
  const blobs = join(store, 'blobs')
  await mkdir(blobs, { recursive: true })
  const putBlob = async (mediaType: string, bytes: Uint8Array) => {
    const hash = sha256(bytes)
    await writeFile(join(blobs, `sha256-${hash}`), bytes)
    return { mediaType, digest: `sha256:${hash}`, size: bytes.length }
  }
  const weights = await putBlob('application/vnd.ollama.image.model', await readFile(from))
  let path = join(blobs, weights.digest.replace(':', '-'))
  if (sizeBytes !== undefined) {
    await truncate(path, sizeBytes)
    const { sha256_hash } = await hashFileInWorker(path)
    Object.assign(weights, { digest: `sha256:${sha256_hash}`, size: sizeBytes })
    const extended = join(blobs, `sha256-${sha256_hash}`)
    await rename(path, extended)
    path = extended
  }
  const layers = [weights]
  if (license !== undefined) {
    layers.push(await putBlob('application/vnd.ollama.image.license', Buffer.from(license)))
  }
  if (system !== undefined) {
    layers.push(await putBlob('application/vnd.ollama.image.system', Buffer.from(system)))
  }
  if (parameters !== undefined) {
    const json = Buffer.from(JSON.stringify(parameters))
    layers.push(await putBlob('application/vnd.ollama.image.params', json))
  }
  const config = await putBlob('application/vnd.docker.container.image.v1+json', Buffer.from('{}'))
  await mkdir(dirname(manifest), { recursive: true })
  await writeFile(
    manifest,
    JSON.stringify({
      schemaVersion: 2,
      mediaType: 'application/vnd.docker.distribution.manifest.v2+json',
      config,
      layers,
    }),
  )
  return path
}

type HubFile = { cache: string; repo: string; filename: string; revision?: string }

/** Adds a file to a Hugging Face cache. Returns the path of its blob. */
export async function putHubFile({ cache, repo, filename, revision = 'a'.repeat(40) }: HubFile) {
  const folder = join(cache, `models--${repo.replace('/', '--')}`)
  const blob = join(folder, 'blobs', sha256(await readFile(nanoPath)))
  const snapshot = join(folder, 'snapshots', revision, filename)
  for (const path of [blob, snapshot, join(folder, 'refs', 'main')]) {
    await mkdir(dirname(path), { recursive: true })
  }
  await copyFile(nanoPath, blob)
  await symlink(relative(dirname(snapshot), blob), snapshot)
  await writeFile(join(folder, 'refs', 'main'), revision)
  return blob
}
