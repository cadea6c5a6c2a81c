import type { GgufRole, GgufTensorSummary, JsonValue } from '@shoal/model-file'
import { type Random, randomFrom } from './random.ts'
import * as words from './words.ts'

export type CatalogueFile = {
  id: string
  filename: string
  quantization: string
  fileSizeBytes: number
  sha256_hash: string
  chunkSize: number
  chunkHashes: Uint8Array
  /** The file's header; undefined if its content does not matter. */
  header?: FileHeader
}

/** The data that a registry reads from a file's header. */
export type FileHeader = {
  role: GgufRole
  metadata: Record<string, JsonValue>
  tensors: GgufTensorSummary
  memoryBytes: number | null
}

export type CatalogueModel = {
  id: string
  name: string
  owner: string
  displayName: string
  description: string | null
  license: string | null
  architecture: string
  parameterCount: number
  contextLength: number
  tags: string[]
  readme: string
  isPublic: boolean
  downloads: number
  likes: number
  createdAt: string
  files: CatalogueFile[]
}

/**
 * The catalogue begins with this many public models whose first file has a fixed size and chunks of the usual size.
 * Benchmarks request these chunks.
 */
export const modelsWithChunks = 1_000
const fileSizeWithChunks = 4 * 1024 ** 3
const chunkSize = 16 * 1024 ** 2
const threeYearsMs = 3 * 365 * 86_400_000
const firstDay = Date.UTC(2023, 0, 1)

export const owners: readonly string[] = words.rareWords.slice(0, 2_000)

/**
 * Generates made-up models, which are the same in every run. As on a public hub, a few words are common in names and
 * descriptions, and most words are rare.
 */
export function* catalogue(count: number): Generator<CatalogueModel> {
  const random = randomFrom(1)
  const taken = new Set<string>()
  for (let index = 0; index < count; index += 1) {
    const createdMs = firstDay + Math.floor((index / count) * threeYearsMs)
    const family = random.pickSkewed(words.families)
    const version = random.pick(family.versions)
    const billions = random.pickSkewed(words.sizes)
    const variant = random.chance(0.3) ? 'instruct' : random.pick(words.variants)
    const rare = random.pick(words.rareWords)
    const named = `${family.name}-${version}-${billions}b-${variant}-${rare}`
    const name = taken.has(named) ? `${named}-${index}` : named
    taken.add(name)
    const downloads = Math.floor(20 / (random.next() ** 1.5 + 1e-5))
    yield {
      id: idAt(createdMs, random),
      name,
      owner: random.pickSkewed(owners),
      displayName: `${capital(family.name)} ${version} ${billions}B ${capital(variant)} ${capital(rare)}`,
      description: random.chance(0.9) ? makeText(1 + random.integer(3), random) : null,
      license: random.chance(0.85) ? random.pickSkewed(words.licenses) : null,
      architecture: family.architecture,
      parameterCount: billions * 1e9,
      contextLength: random.pick([4096, 8192, 32_768, 131_072]),
      tags: pickTags(variant, random),
      readme: makeText(5 + random.integer(25), random),
      isPublic: index < modelsWithChunks || random.chance(0.97),
      downloads,
      likes: Math.floor(downloads * 0.05 * random.next()),
      createdAt: new Date(createdMs).toISOString(),
      files: makeFiles({ name, billions, createdMs, hasChunks: index < modelsWithChunks }, random),
    }
  }
}

function makeFiles(
  model: { name: string; billions: number; createdMs: number; hasChunks: boolean },
  random: Random,
): CatalogueFile[] {
  const start = random.integer(3)
  const labels = words.quantizations.slice(start, start + 1 + random.integer(3))
  return labels.map(({ label, bitsPerWeight }, index) => {
    const hasChunks = model.hasChunks && index === 0
    const ownSize = Math.floor((model.billions * 1e9 * bitsPerWeight) / 8)
    const fileSizeBytes = hasChunks ? fileSizeWithChunks : ownSize
    // One chunk is enough for a file that is never requested.
    const size = hasChunks ? chunkSize : ownSize
    const digits = Math.ceil(fileSizeBytes / size) * 64
    return {
      id: idAt(model.createdMs + index + 1, random),
      filename: `${model.name}-${label}.gguf`,
      quantization: label,
      fileSizeBytes,
      sha256_hash: random.hex(64),
      chunkSize: size,
      chunkHashes: Buffer.from(random.hex(digits), 'hex'),
    }
  })
}

function pickTags(variant: string, random: Random): string[] {
  const some = Array.from({ length: 1 + random.integer(6) }, () => random.pickSkewed(words.tags))
  return [...new Set(['gguf', variant, ...some])]
}

function makeText(sentences: number, random: Random): string {
  return Array.from({ length: sentences }, () => sentence(random)).join(' ')
}

function sentence(random: Random): string {
  return random.pick(words.sentences).replace(/\{(topic|quality|rare)\}/g, (_, kind) => {
    if (kind === 'topic') return random.pickSkewed(words.topics)
    if (kind === 'quality') return random.pickSkewed(words.qualities)
    return random.pick(words.rareWords)
  })
}

/** Returns a UUID that sorts by time (version 7), like those of the registry. */
export function idAt(ms: number, random: Random): string {
  const time = ms.toString(16).padStart(12, '0')
  const rest = random.hex(18)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${rest.slice(0, 3)}-8${rest.slice(3, 6)}-${rest.slice(6)}`
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}
