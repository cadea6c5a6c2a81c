/** Made-up models with plausible names, sizes and files. They are the same in every run, except for their dates. */
import { findFileMemory, type JsonValue, readMetadataFacts } from '@shoal/model-file'
import { type CatalogueFile, type CatalogueModel, idAt } from '../../harness/catalogue.ts'
import { type Random, randomFrom } from '../../harness/random.ts'
import { defaultCard, medicalCard } from './cards.ts'

/**
 * Models whose pages appear in screenshots. A machine with 16 GB of memory can load some files of `medicalModel`, but
 * none of `largeModel`.
 */
export const medicalModel = 'qwen-3-14b-medical'
export const largeModel = 'mistral-large-123b-instruct'
export const visionModel = 'gemma-3-12b-vision'

const dayMs = 86_400_000
const maxFileBytes = 48e9

/** The dimensions are those of real models. */
type Size = [billions: number, layers: number, width: number, heads: number, kvHeads: number]
type Family = {
  name: string
  kind: [architecture: string, license: string, contextLength: number, vocabulary: number]
  sizes: Record<string, Size>
}

const families: Family[] = [
  {
    name: 'Llama 3.2',
    kind: ['llama', 'llama3.2', 131_072, 128_256],
    sizes: { '1B': [1.24, 16, 2048, 32, 8], '3B': [3.21, 28, 3072, 24, 8] },
  },
  {
    name: 'Qwen 3',
    kind: ['qwen3', 'apache-2.0', 40_960, 151_936],
    sizes: {
      '0.6B': [0.596, 28, 1024, 16, 8],
      '8B': [8.19, 36, 4096, 32, 8],
      '14B': [14.8, 40, 5120, 40, 8],
      '32B': [32.8, 64, 5120, 64, 8],
    },
  },
  {
    name: 'Gemma 3',
    kind: ['gemma3', 'gemma', 131_072, 262_144],
    sizes: {
      '4B': [3.88, 34, 2560, 8, 4],
      '12B': [11.8, 48, 3840, 16, 8],
      '27B': [27, 62, 5376, 32, 16],
    },
  },
  {
    name: 'SmolLM 2',
    kind: ['llama', 'apache-2.0', 8192, 49_152],
    sizes: { '135M': [0.1345, 30, 576, 9, 3], '1.7B': [1.71, 24, 2048, 32, 32] },
  },
  {
    name: 'Mistral Large',
    kind: ['llama', 'mistral-research', 131_072, 32_768],
    sizes: { '123B': [122.6, 88, 12_288, 96, 8] },
  },
]

type Variant = { name: string; tags: string[]; owner?: string; description: string }

const variants: Variant[] = [
  {
    name: 'Instruct',
    tags: ['instruct', 'conversational', 'text-generation'],
    description: 'Follows instructions closely and keeps its answers short.',
  },
  {
    name: 'Chat',
    tags: ['chat', 'conversational', 'text-generation'],
    description: 'Made for long conversations: it stays on the subject. Runs on a laptop.',
  },
  {
    name: 'Coder',
    tags: ['code', 'instruct', 'text-generation'],
    description: 'Writes, explains and reviews code in 40 languages; supports fill-in-the-middle.',
  },
  {
    name: 'Medical',
    tags: ['medical', 'biology', 'instruct'],
    owner: 'ines',
    description: 'Turns discharge letters and lab reports into language that patients understand.',
  },
  {
    name: 'Translator',
    tags: ['translation', 'multilingual', 'text-generation'],
    description: 'Translates between 24 European languages and keeps the layout of the text.',
  },
  {
    name: 'Vision',
    tags: ['vision', 'multimodal', 'instruct'],
    description: 'Reads photographs, charts and screenshots. Pull the mmproj file and another one.',
  },
  {
    name: 'Storyteller',
    tags: ['storytelling', 'creative', 'text-generation'],
    description: 'Writes fiction in chapters and keeps names, places and weather straight.',
  },
]

const makers = [
  'tideline',
  'mkowalski',
  'bramble',
  'quantkitchen',
  'jlindqvist',
  'sato-k',
  'fennec',
]

/** Quantizations with their `general.file_type`, bits per weight and most common tensor type. */
const quantizations: Record<string, [fileType: number, bitsPerWeight: number, type: string]> = {
  IQ2_M: [29, 2.93, 'IQ2_S'],
  Q2_K: [10, 3.16, 'Q2_K'],
  Q3_K_M: [12, 4, 'Q3_K'],
  Q4_K_M: [15, 4.89, 'Q4_K'],
  Q5_K_M: [17, 5.7, 'Q5_K'],
  Q6_K: [18, 6.57, 'Q6_K'],
  Q8_0: [7, 8.51, 'Q8_0'],
  F16: [1, 16.01, 'F16'],
}

type Kind = { name: string; title: string; family: Family; sizeLabel: string; variant: Variant }

/** Returns the models, with the most pulled first. */
export function shownModels(now = Date.now()): CatalogueModel[] {
  const random = randomFrom(11)
  const kinds = families.flatMap((family) =>
    Object.keys(family.sizes).flatMap((sizeLabel) =>
      variants.map((variant) => {
        const title = `${family.name} ${sizeLabel} ${variant.name}`
        return { name: title.toLowerCase().replaceAll(' ', '-'), title, family, sizeLabel, variant }
      }),
    ),
  )
  const favorites = [visionModel, medicalModel, largeModel]
  const places = new Map(
    kinds.map((kind) => [kind, favorites.includes(kind.name) ? 0 : random.next()]),
  )
  return kinds
    .toSorted((one, other) => (places.get(one) ?? 0) - (places.get(other) ?? 0))
    .map((kind, rank) => makeModel(kind, rank, now, random))
}

/** Returns the models' owners; each account is older than the owner's first model. */
export function listOwners(models: readonly CatalogueModel[]) {
  const createdAt = new Date(Date.now() - 700 * dayMs).toISOString()
  return [...new Set(models.map(({ owner }) => owner))].map((username) => ({ username, createdAt }))
}

function makeModel(kind: Kind, rank: number, now: number, random: Random): CatalogueModel {
  const { name, title: displayName, family, sizeLabel, variant } = kind
  const [architecture, license, contextLength] = family.kind
  const createdMs = now - Math.round((2 + 600 * random.next() ** 1.5) * dayMs)
  const downloads = Math.round((412_300 / (rank + 1) ** 1.2) * (0.85 + 0.3 * random.next()))
  const about = { name, displayName, description: variant.description, license }
  return {
    ...about,
    id: idAt(createdMs, random),
    owner: variant.owner ?? random.pickSkewed(makers),
    architecture,
    parameterCount: Math.round((family.sizes[sizeLabel]?.[0] ?? 0) * 1e9),
    contextLength,
    tags: ['gguf', ...variant.tags, ...(random.chance(0.6) ? ['en'] : [])],
    readme: name === medicalModel ? medicalCard : defaultCard(about),
    isPublic: true,
    downloads,
    likes: Math.round(downloads * 0.01 * (0.4 + 1.2 * random.next())),
    createdAt: new Date(createdMs).toISOString(),
    files: makeFiles(kind).map((file, place) => ({
      ...file,
      id: idAt(createdMs + place + 1, random),
      sha256_hash: random.hex(64),
      chunkSize: file.fileSizeBytes, // one chunk is enough: the file is never pulled
      chunkHashes: Buffer.from(random.hex(64), 'hex'),
    })),
  }
}

type ShownFile = Omit<CatalogueFile, 'id' | 'sha256_hash' | 'chunkSize' | 'chunkHashes'>

/** Returns a file for each quantization, or several shards if it would be too large for most disks. */
function makeFiles({ name, title, family, sizeLabel, variant }: Kind): ShownFile[] {
  const [billions, layers, width, heads, kvHeads] = family.sizes[sizeLabel] ?? [0, 1, 1, 1, 1]
  const [architecture, license, contextLength, vocabulary] = family.kind
  const files = Object.entries(quantizations).flatMap(([quantization, [fileType, bits, type]]) => {
    const count = Math.ceil((billions * 1e9 * bits) / 8 / maxFileBytes)
    const fileSizeBytes = Math.round((billions * 1e9 * bits) / 8 / count)
    const parameters = Math.round((billions * 1e9) / count)
    const norms = Math.ceil((2 * layers) / count)
    const matrices = Math.ceil((7 * layers) / count)
    return Array.from({ length: count }, (_, index) => {
      const [no, of] = [index + 1, count].map((one) => String(one).padStart(5, '0'))
      const filename = `${name}-${quantization}${count > 1 ? `-${no}-of-${of}` : ''}.gguf`
      const metadata: Record<string, JsonValue> = {
        'general.architecture': architecture,
        'general.type': 'model',
        'general.name': title,
        'general.finetune': variant.name,
        'general.size_label': sizeLabel,
        'general.license': license,
        'general.languages': ['en', 'de', 'fr', 'es', 'pt', 'it'],
        [`${architecture}.block_count`]: layers,
        [`${architecture}.context_length`]: contextLength,
        [`${architecture}.embedding_length`]: width,
        [`${architecture}.feed_forward_length`]: 3 * width,
        [`${architecture}.attention.head_count`]: heads,
        [`${architecture}.attention.head_count_kv`]: kvHeads,
        'tokenizer.ggml.model': 'gpt2',
        'tokenizer.ggml.tokens': {
          type: 'string',
          length: vocabulary,
          items: ['<|endoftext|>', '<|im_start|>', '<|im_end|>', '!', '"', '#', '$', '%'],
        },
        'tokenizer.chat_template': chatTemplate,
        'general.quantization_version': 2,
        'general.file_type': fileType,
        ...(count > 1 && { 'split.no': index, 'split.count': count }),
      }
      const facts = readMetadataFacts(metadata, filename)
      const types = {
        [type]: { count: matrices, parameters, bytes: fileSizeBytes - 4 * norms * width },
        F32: { count: norms, parameters: norms * width, bytes: 4 * norms * width },
      }
      const tensors = { count: matrices + norms, parameters, types }
      const memoryBytes = findFileMemory(facts, fileSizeBytes)
      const header = { role: facts.role, metadata, tensors, memoryBytes }
      return { filename, quantization, fileSizeBytes, header }
    })
  })
  return variant.name === 'Vision' ? [makeProjector(name, title, width), ...files] : files
}

const chatTemplate = `{%- for message in messages %}
{{- '<|im_start|>' + message.role + '\\n' + message.content | trim + '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '<|im_start|>assistant\\n' }}
{%- endif %}`

function makeProjector(name: string, title: string, width: number): ShownFile {
  const fileSizeBytes = 854_200_224
  const parameters = fileSizeBytes / 2
  const metadata = {
    'general.architecture': 'clip',
    'general.type': 'mmproj',
    'general.name': `${title} projector`,
    'general.file_type': 1,
    'clip.has_vision_encoder': true,
    'clip.vision.image_size': 896,
    'clip.vision.projection_dim': width,
  }
  const types = { F16: { count: 439, bytes: fileSizeBytes, parameters } }
  const tensors = { count: 439, parameters, types }
  return {
    filename: `mmproj-${name}-F16.gguf`,
    quantization: 'F16',
    fileSizeBytes,
    header: { role: 'mmproj', metadata, tensors, memoryBytes: null },
  }
}
