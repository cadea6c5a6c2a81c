/** Realistic made-up models, the same in every run except for their dates, which are relative to now. */
import { type CatalogueFile, type CatalogueModel, idAt } from '../../harness/catalogue.ts'
import { type Random, randomFrom } from '../../harness/random.ts'
import { defaultCard, medicalCard } from './cards.ts'
import { type Family, families, type Size } from './families.ts'
import { makeFileHeader, type Part, projectorHeader, type ShownModel } from './headers.ts'
import { ladderFor, type Quantization, wholeLadder } from './quantizations.ts'
import { makers, remarks, type Variant, variants } from './variants.ts'

/**
 * Models whose pages appear in screenshots. A machine with 16 GB of memory can load some files of `medicalModel`, but
 * none of `largeModel`.
 */
export const medicalModel = 'qwen-3-14b-medical'
export const largeModel = 'mistral-large-123b-instruct'
export const visionModel = 'gemma-3-12b-vision'

/** The most pulled models, in this order; all others follow in random order. */
const favourites = [
  ...['llama-3.2-3b-instruct', 'qwen-3-8b-instruct', visionModel, 'llama-3.1-8b-instruct'],
  ...['qwen-2.5-7b-coder', 'deepseek-r1-distill-7b-reasoning', 'mistral-small-24b-instruct'],
  ...[
    medicalModel,
    'phi-4-14b-instruct',
    'smollm-2-360m-chat',
    'llama-3.3-70b-instruct',
    largeModel,
  ],
]
const topDownloads = 412_300
const dayMs = 86_400_000
const maxFileBytes = 48e9

type Kind = { family: Family; size: Size; variant: Variant; name: string }

/** Returns the models, with the most pulled first. */
export function shownModels(count: number, now = Date.now()): CatalogueModel[] {
  const random = randomFrom(11)
  const circumstances = { now, random, turn: inTurn() }
  return allKinds(random)
    .slice(0, count)
    .map((kind, rank) => makeModel(kind, { ...circumstances, rank }))
}

/** Returns the models' owners; each account is older than the owner's first model. */
export function listOwners(models: readonly CatalogueModel[]) {
  const firstDays = new Map<string, number>()
  for (const { owner, createdAt } of models) {
    const day = Date.parse(createdAt) - 40 * dayMs
    firstDays.set(owner, Math.min(day, firstDays.get(owner) ?? day))
  }
  return Array.from(firstDays, ([username, day]) => ({
    username,
    createdAt: new Date(day).toISOString(),
  }))
}

/** Returns all combinations of families, sizes and variants, with the most pulled first. */
function allKinds(random: Random): Kind[] {
  const kinds = families.flatMap((family) =>
    family.sizes.flatMap((size) =>
      variants
        .filter((variant) => isMade(family, size, variant))
        .map((variant) => ({ family, size, variant, name: makeSlug(family, size, variant) })),
    ),
  )
  const scores = new Map(kinds.map((kind) => [kind, computeScore(kind, random)]))
  return kinds.toSorted((a, b) => (scores.get(b) ?? 0) - (scores.get(a) ?? 0))
}

/** Returns a random score of at most 1, or a higher score for favorites. */
function computeScore({ family, variant, name }: Kind, random: Random): number {
  const place = favourites.indexOf(name)
  const byChance = random.next() ** (1 / (family.usage.popularity * variant.weight))
  return place < 0 ? byChance : 1 + favourites.length - place
}

function isMade({ only, kind: [architecture] }: Family, { parameters }: Size, variant: Variant) {
  if (only) return only.includes(variant.name)
  if (variant.architectures && !variant.architectures.includes(architecture)) return false
  if (variant.name === 'Vision') return parameters > 2e9
  return variant.name !== 'Embed' || parameters < 9e9
}

const formatTitle = (family: Family, size: Size, variant: Variant) =>
  `${family.name} ${size.label} ${variant.name}`

const makeSlug = (...parts: [Family, Size, Variant]) =>
  formatTitle(...parts)
    .toLowerCase()
    .replaceAll(' ', '-')

type Turn = ReturnType<typeof inTurn>
type Circumstances = { rank: number; now: number; random: Random; turn: Turn }

/** Returns a function that returns the next item of a list on each call, so that neighboring models differ. */
function inTurn() {
  const taken = new Map<readonly string[], number>()
  return (list: readonly string[]): string => {
    const count = taken.get(list) ?? 0
    taken.set(list, count + 1)
    return list[count % list.length] ?? ''
  }
}

function makeModel(kind: Kind, { rank, now, random, turn }: Circumstances): CatalogueModel {
  const { family, size, variant, name } = kind
  const [architecture, license, contextLength] = family.kind
  const model: ShownModel = { ...kind, displayName: formatTitle(family, size, variant) }
  const ageDays = 2 + (family.usage.oldestDays - 2) * random.next() ** 1.5
  const createdMs = now - Math.round(ageDays * dayMs)
  const downloads = Math.round((topDownloads / (rank + 1) ** 1.2) * (0.85 + 0.3 * random.next()))
  const description = pickDescription(kind, random, turn)
  return {
    id: idAt(createdMs, random),
    name,
    owner: variant.owner ?? random.pickSkewed(makers),
    displayName: model.displayName,
    description,
    license,
    architecture,
    parameterCount: size.parameters,
    contextLength,
    tags: pickTags(variant, random),
    readme: name === medicalModel ? medicalCard : defaultCard({ ...model, description, license }),
    isPublic: true,
    downloads,
    likes: Math.round(downloads * 0.01 * (0.4 + 1.2 * random.next())),
    createdAt: new Date(createdMs).toISOString(),
    files: makeFiles(model, createdMs, random),
  }
}

/** Returns a description of one or two sentences, sometimes with a remark about the size. */
function pickDescription({ size, variant }: Kind, random: Random, turn: Turn): string {
  const { parameters } = size
  const ofSize =
    parameters < 2e9 ? remarks.small : parameters < 40e9 ? remarks.medium : remarks.large
  const description = turn(variant.descriptions)
  return random.chance(0.35) ? `${description} ${turn(ofSize)}` : description
}

const pickTags = ({ tags }: Variant, random: Random): string[] => [
  'gguf',
  ...tags,
  ...(random.chance(0.4) ? ['imatrix'] : []),
  ...(random.chance(0.6) ? ['en'] : []),
]

function makeFiles(model: ShownModel, createdMs: number, random: Random): CatalogueFile[] {
  const { name, size, variant } = model
  const ladder = name === medicalModel ? wholeLadder() : ladderFor(size.parameters, random)
  const files = ladder.flatMap((quantization) => makeParts(model, quantization))
  const all = variant.name === 'Vision' ? [makeProjector(model), ...files] : files
  return all.map((file, place) => ({
    ...file,
    id: idAt(createdMs + place + 1, random),
    sha256_hash: random.hex(64),
    chunkSize: file.fileSizeBytes, // one chunk is enough: the file is never pulled
    chunkHashes: Buffer.from(random.hex(64), 'hex'),
  }))
}

type ShownFile = Omit<CatalogueFile, 'id' | 'sha256_hash' | 'chunkSize' | 'chunkHashes'>

/** Returns one file, or several shards if the file would be too large for most disks and hubs. */
function makeParts(model: ShownModel, quantization: Quantization): ShownFile[] {
  const wholeBytes = (model.size.parameters * quantization.bitsPerWeight) / 8
  const count = Math.ceil(wholeBytes / maxFileBytes)
  const fileSizeBytes = Math.round(wholeBytes / count)
  return Array.from({ length: count }, (_, index) => {
    const part: Part | undefined = count > 1 ? { index, count } : undefined
    const filename = `${model.name}-${quantization.label}${formatSuffix(part)}.gguf`
    const header = makeFileHeader(model, { filename, fileSizeBytes, quantization, part })
    return { filename, quantization: quantization.label, fileSizeBytes, header }
  })
}

function formatSuffix(part: Part | undefined): string {
  if (!part) return ''
  const [index, count] = [part.index + 1, part.count].map((one) => String(one).padStart(5, '0'))
  return `-${index}-of-${count}`
}

function makeProjector(model: ShownModel): ShownFile {
  const fileSizeBytes = 854_200_224
  const filename = `mmproj-${model.name}-F16.gguf`
  const header = projectorHeader(model, fileSizeBytes)
  return { filename, quantization: 'F16', fileSizeBytes, header }
}
