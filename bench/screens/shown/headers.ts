/** Headers of made-up files, as complete as those of real files, with consistent numbers. */
import {
  findFileMemory,
  type GgufTensorSummary,
  type JsonValue,
  readMetadataFacts,
} from '@shoal/model-file'
import type { FileHeader } from '../../harness/catalogue.ts'
import type { Family, Size } from './families.ts'
import { bitsByType, type Quantization, type TensorType } from './quantizations.ts'
import type { Variant } from './variants.ts'

export type ShownModel = {
  name: string
  displayName: string
  variant: Variant
  family: Family
  size: Size
}

export type Part = { index: number; count: number }

type Metadata = Record<string, JsonValue>

const tensorsPerLayer = 9
const normsPerLayer = 2

export function makeFileHeader(
  model: ShownModel,
  file: {
    filename: string
    fileSizeBytes: number
    quantization: Quantization
    part: Part | undefined
  },
): FileHeader {
  const { filename, fileSizeBytes, quantization, part } = file
  const metadata = {
    ...makeMetadata(model, quantization),
    ...(part && makeSplitMetadata(part, model)),
  }
  const facts = readMetadataFacts(metadata, filename)
  return {
    role: facts.role,
    metadata,
    tensors: summarizeTensors(model, quantization, part?.count ?? 1),
    memoryBytes: findFileMemory(facts, fileSizeBytes),
  }
}

/** Returns the header of a model's vision projector. */
export function projectorHeader(
  { displayName, size }: ShownModel,
  fileSizeBytes: number,
): FileHeader {
  const parameters = Math.round(fileSizeBytes / 2)
  return {
    role: 'mmproj',
    metadata: {
      'general.architecture': 'clip',
      'general.type': 'mmproj',
      'general.name': `${displayName} projector`,
      'general.file_type': 1,
      'clip.has_vision_encoder': true,
      'clip.vision.image_size': 896,
      'clip.vision.patch_size': 14,
      'clip.vision.embedding_length': 1152,
      'clip.vision.block_count': 27,
      'clip.vision.projection_dim': size.width,
    },
    tensors: {
      count: 439,
      parameters,
      types: { F16: { count: 439, bytes: fileSizeBytes, parameters } },
    },
    memoryBytes: null,
  }
}

function makeMetadata(model: ShownModel, { label, fileType }: Quantization): Metadata {
  const { family, size, variant, name, displayName } = model
  const [architecture, license] = family.kind
  const isMadeWithMatrix = label.startsWith('IQ')
  return {
    'general.architecture': architecture,
    'general.type': 'model',
    'general.name': displayName,
    'general.finetune': variant.name,
    'general.basename': family.name.replaceAll(' ', '-'),
    'general.size_label': size.label,
    'general.license': license,
    'general.languages': ['en', 'de', 'fr', 'es', 'pt', 'it'],
    ...makeShapeMetadata(model),
    ...makeTokenizerMetadata(model),
    'general.quantization_version': 2,
    'general.file_type': fileType,
    ...(isMadeWithMatrix && {
      'quantize.imatrix.file': `/models/${name}/${name}.imatrix`,
      'quantize.imatrix.dataset': 'calibration/mixed-prose-and-code.txt',
      'quantize.imatrix.entries_count': size.layers * 7,
      'quantize.imatrix.chunks_count': 141,
    }),
  }
}

function makeShapeMetadata({ family, size }: ShownModel): Metadata {
  const [architecture, , contextLength] = family.kind
  const { layers, width, feedForward, heads, kvHeads, keyLength = width / heads } = size
  const shape = {
    block_count: layers,
    context_length: contextLength,
    embedding_length: width,
    feed_forward_length: feedForward,
    'attention.head_count': heads,
    'attention.head_count_kv': kvHeads,
    'attention.layer_norm_rms_epsilon': 0.000001,
    'attention.key_length': keyLength,
    'attention.value_length': keyLength,
    'rope.freq_base': 1_000_000,
    'rope.dimension_count': keyLength,
  }
  return Object.fromEntries(
    Object.entries(shape).map(([key, value]) => [`${architecture}.${key}`, value]),
  )
}

function makeTokenizerMetadata({ family }: ShownModel): Metadata {
  const [, , , vocabulary] = family.kind
  const marks = ['<|endoftext|>', '<|im_start|>', '<|im_end|>', '!', '"', '#', '$', '%']
  return {
    'tokenizer.ggml.model': 'gpt2',
    'tokenizer.ggml.pre': family.name.split(' ')[0]?.toLowerCase() ?? 'default',
    'tokenizer.ggml.tokens': { type: 'string', length: vocabulary, items: marks },
    'tokenizer.ggml.token_type': {
      type: 'i32',
      length: vocabulary,
      items: [3, 3, 3, 1, 1, 1, 1, 1],
    },
    'tokenizer.ggml.merges': {
      type: 'string',
      length: vocabulary - 280,
      items: ['Ġ Ġ', 'ĠĠ ĠĠ', 'i n', 'Ġ t', 'e r', 'ĠĠĠ Ġ'],
    },
    'tokenizer.ggml.eos_token_id': 2,
    'tokenizer.ggml.padding_token_id': 0,
    'tokenizer.ggml.add_bos_token': false,
    'tokenizer.chat_template': chatTemplate,
  }
}

const chatTemplate = `{%- if messages[0].role != 'system' %}
{{- '<|im_start|>system\\nYou are a helpful assistant.<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
{{- '<|im_start|>' + message.role + '\\n' + message.content | trim + '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '<|im_start|>assistant\\n' }}
{%- endif %}`

const makeSplitMetadata = ({ index, count }: Part, { size }: ShownModel): Metadata => ({
  'split.no': index,
  'split.count': count,
  'split.tensors.count': size.layers * (tensorsPerLayer + normsPerLayer) + 3,
})

/** Summarizes the tensors in one part of a model that is split into `parts` equal parts. */
function summarizeTensors(
  { size }: ShownModel,
  { types, bitsPerWeight }: Quantization,
  parts: number,
): GgufTensorSummary {
  const [most, rest] = types
  const parameters = Math.round(size.parameters / parts)
  const matrices = Math.round((size.layers * tensorsPerLayer + 2) / parts)
  const norms = Math.round((size.layers * normsPerLayer + 1) / parts)
  const share = (bitsPerWeight - bitsByType[most]) / (bitsByType[rest] - bitsByType[most])
  const restCount = rest === 'F32' ? 0 : Math.max(1, Math.round(matrices * share))
  const summarizeType = (type: TensorType, count: number, parameters: number) => {
    const bytes = Math.round((parameters * bitsByType[type]) / 8)
    return { [type]: { count, parameters, bytes } }
  }
  return {
    count: matrices + norms,
    parameters,
    types: {
      ...summarizeType(most, matrices - restCount, Math.round(parameters * (1 - share))),
      ...(restCount > 0 && summarizeType(rest, restCount, Math.round(parameters * share))),
      ...summarizeType('F32', norms, norms * size.width),
    },
  }
}
