/**
 * Reads Ollama's store: `manifests/<host>/<namespace>/<model>/<tag>` are OCI manifests, whose layers are the files
 * `blobs/sha256-<hex>`.
 */
import { readdir, realpath } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { isErrno, openFile, readSmallFile } from '@shoal/files'
import { ollamaOptions } from '@shoal/protocol'
import type { Preset } from '../disk/preset.ts'
import {
  type Found,
  isInside,
  readFoundFile,
  reasonOf,
  type Skipped,
  toModelName,
} from './found-file.ts'

type Layer = { mediaType: string; digest: string; size: number }

/** Media types of the layers that are GGUF files. */
const ggufLayers: Record<string, 'model' | 'projector'> = {
  'application/vnd.ollama.image.model': 'model',
  'application/vnd.ollama.image.projector': 'projector',
}
const licenseLayer = 'application/vnd.ollama.image.license'
const parametersLayer = 'application/vnd.ollama.image.params'
const systemLayer = 'application/vnd.ollama.image.system'
/** System prompts and parameters are much shorter. */
const maxSettingsBytes = 1024 * 1024
const maxManifestBytes = 4 * 1024 * 1024

/** Finds the models in an Ollama store. Everything that cannot be imported is in `skipped`, with a reason. */
export async function findOllamaModels(storeFolder: string): Promise<Found> {
  const root = await realpath(storeFolder)
  const found: Found = { files: [], skipped: [] }
  const manifests = join(root, 'manifests')
  for (const path of await listFiles(manifests, 4, found.skipped)) {
    try {
      await readModel({ root, path, parts: relative(manifests, path).split(sep) }, found)
    } catch (error) {
      found.skipped.push({ path, why: reasonOf(error) })
    }
  }
  return found
}

type Manifest = { root: string; path: string; parts: string[] }

async function readModel({ root, path, parts }: Manifest, found: Found) {
  const [host = '', ...rest] = parts
  const [tag = '', model = '', ...namespaces] = rest.toReversed()
  const publisher = namespaces.toReversed().join('-')
  const isLibrary = host === 'registry.ollama.ai' && publisher === 'library'
  const short = isLibrary
    ? model
    : [...(host === 'registry.ollama.ai' ? [] : [host]), publisher, model].join('/')
  const layers = await readLayers(path)
  if (layers === undefined) {
    found.skipped.push({ path, why: 'it is not a manifest, or shoal does not support its format' })
    return
  }
  const title = `${short}:${tag}`
  const license = await readLicense(root, layers)
  const preset = await readSettings(root, layers)
  let isModelThere = false
  for (const { mediaType, digest, size } of layers) {
    const role = ggufLayers[mediaType]
    if (mediaType.endsWith('.adapter')) {
      found.skipped.push({ path, why: `${title} has a LoRA adapter, which is not imported` })
    }
    if (role === undefined) continue
    isModelThere = true
    const blob = await findBlob(root, { digest, size }, found)
    if (blob === undefined) continue
    try {
      const file = await readFoundFile(blob, {
        publisher: isLibrary ? 'ollama' : toModelName(publisher || host),
        origin: `ollama ${title}`,
        sha256: digest.slice('sha256:'.length),
        license,
        modelName: nameOf(model, tag),
      })
      const name = role === 'projector' ? withPrefix(file.filename) : file.filename
      found.files.push({ ...file, filename: name, preset })
    } catch (error) {
      found.skipped.push({ path: blob, why: reasonOf(error) })
    }
  }
  if (!isModelThere) found.skipped.push({ path, why: `${title} contains no GGUF file` })
}

/**
 * Derives a name from the model and the tag, without the quantization, which is not part of a name in shoal:
 * `llama3.2:3b-instruct-q4_K_M` becomes `llama3.2-3b-instruct`. The tag `latest` is ignored.
 */
function nameOf(model: string, tag: string): string {
  const bare = tag
    .toLowerCase()
    .replace(/(^|[-_.])(i?q\d\w*|f16|f32|bf16|fp16|mxfp4\w*|tq\d\w*)$/, '')
  return toModelName(bare === '' || bare === 'latest' ? model : `${model}-${bare}`)
}

const withPrefix = (filename: string) =>
  filename.startsWith('mmproj-') ? filename : `mmproj-${filename}`

/** Returns the blob's path, or undefined with a reason in `found.skipped`. */
async function findBlob(
  root: string,
  { digest, size }: Pick<Layer, 'digest' | 'size'>,
  found: Found,
): Promise<string | undefined> {
  const blob = join(root, 'blobs', digest.replace(':', '-'))
  try {
    const real = await realpath(blob)
    await using handle = await openFile(real)
    const { size: here } = await handle.stat()
    if (!isInside(root, real)) {
      const why = `it is a link to ${real}, which is outside the store; to import it, specify that path`
      found.skipped.push({ path: blob, why })
      return undefined
    }
    if (here === size) return real
    found.skipped.push({ path: blob, why: `half-written: ${here} of ${size} bytes` })
  } catch (error) {
    const isUnfinished = isErrno(error, 'ENOENT')
    const why = isUnfinished ? 'Ollama has not finished downloading it' : reasonOf(error)
    found.skipped.push({ path: blob, why })
  }
  return undefined
}

async function readLayers(path: string): Promise<Layer[] | undefined> {
  const bytes = await readSmallFile(path, maxManifestBytes)
  try {
    const { layers } = JSON.parse(bytes.toString()) as { layers?: unknown }
    return Array.isArray(layers) && layers.every(isLayer) ? layers : undefined
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined
    throw error
  }
}

function isLayer(value: unknown): value is Layer {
  if (typeof value !== 'object' || value === null) return false
  const { mediaType, digest, size } = value as Layer
  return (
    typeof mediaType === 'string' &&
    /^sha256:[0-9a-f]{64}$/.test(digest) &&
    Number.isSafeInteger(size)
  )
}

/**
 * Returns the model's system prompt, and those of its parameters that shoal supports. Templates are not read, because
 * they are in Go's format; model files contain their own.
 */
async function readSettings(root: string, layers: readonly Layer[]): Promise<Preset> {
  const read = async (wanted: string) => {
    const layer = layers.find(({ mediaType }) => mediaType === wanted)
    if (layer === undefined) return undefined
    const path = join(root, 'blobs', layer.digest.replace(':', '-'))
    return await readSmallFile(path, maxSettingsBytes).then(String, (error) => {
      reasonOf(error) // throws if the error is not about the file; without the file, the model can still be imported
      return undefined
    })
  }
  const [system, parameters] = [await read(systemLayer), toParameters(await read(parametersLayer))]
  return {
    ...(system && { system }),
    ...(Object.keys(parameters).length > 0 && { parameters }),
  }
}

function toParameters(json = '{}'): NonNullable<Preset['parameters']> {
  const given = parseObject(json)
  const isSupported = ([name, value]: [string, unknown]) =>
    name in ollamaOptions.properties &&
    (typeof value === 'number' || (name === 'stop' && Array.isArray(value)))
  return Object.fromEntries(Object.entries(given).filter(isSupported))
}

function parseObject(json: string): object {
  try {
    return Object(JSON.parse(json))
  } catch (error) {
    if (error instanceof SyntaxError) return {}
    throw error
  }
}

/** Returns up to 80 characters of the first line of the license text, such as `Apache License`. */
async function readLicense(root: string, layers: readonly Layer[]): Promise<string | undefined> {
  const layer = layers.find(({ mediaType }) => mediaType === licenseLayer)
  if (layer === undefined) return undefined
  const path = join(root, 'blobs', layer.digest.replace(':', '-'))
  try {
    await using handle = await openFile(path)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(1024), 0, 1024, 0)
    const line = buffer
      .toString('utf8', 0, bytesRead)
      .split('\n')
      .map((one) => one.trim())
    return line.find((one) => one !== '')?.slice(0, 80)
  } catch (error) {
    // An unreadable license does not prevent the import. `reasonOf` throws errors that are not about the file.
    reasonOf(error)
    return undefined
  }
}

/**
 * Lists the files at exactly this depth below a folder, in sorted order. Folders that cannot be read are added to
 * `skipped`.
 */
async function listFiles(folder: string, depth: number, skipped: Skipped[]): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error) => {
    skipped.push({ path: folder, why: reasonOf(error) })
    return []
  })
  const files: string[] = []
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name)
    if (entry.name.startsWith('.')) continue
    if (entry.isDirectory()) {
      if (depth > 1) files.push(...(await listFiles(path, depth - 1, skipped)))
    } else if (depth === 1) files.push(path)
  }
  return files
}
