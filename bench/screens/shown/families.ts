/** The families of the made-up models, with the dimensions of real models. */

export type Size = {
  label: string
  parameters: number
  layers: number
  /** The embedding length. */
  width: number
  feedForward: number
  heads: number
  kvHeads: number
  /** The length of a head's keys and values, if it differs from width / heads. */
  keyLength?: number
}

export type Family = {
  name: string
  kind: [architecture: string, license: string, contextLength: number, vocabulary: number]
  /** The age of the family's oldest model, and the popularity of all its models relative to the average (1). */
  usage: { oldestDays: number; popularity: number }
  /** The names of the family's variants; undefined if the family has all variants. */
  only?: string[]
  sizes: Size[]
}

type Shape = [layers: number, width: number, feedForward: number, heads: number, kvHeads: number]

function size(label: string, billions: number, shape: Shape, keyLength?: number): Size {
  const [layers, width, feedForward, heads, kvHeads] = shape
  const parameters = Math.round(billions * 1e9)
  const own = { label, parameters, layers, width, feedForward, heads, kvHeads }
  return keyLength === undefined ? own : { ...own, keyLength }
}

const llama70 = size('70B', 70.6, [80, 8192, 28_672, 64, 8])
const qwen7 = size('7B', 7.62, [28, 3584, 18_944, 28, 4])
const qwen14 = size('14B', 14.8, [48, 5120, 13_824, 40, 8])

export const families: Family[] = [
  {
    name: 'Llama 3.1',
    kind: ['llama', 'llama3.1', 131_072, 128_256],
    usage: { oldestDays: 600, popularity: 2.5 },
    sizes: [size('8B', 8.03, [32, 4096, 14_336, 32, 8]), llama70],
  },
  {
    name: 'Llama 3.2',
    kind: ['llama', 'llama3.2', 131_072, 128_256],
    usage: { oldestDays: 520, popularity: 2.5 },
    sizes: [
      size('1B', 1.24, [16, 2048, 8192, 32, 8]),
      size('3B', 3.21, [28, 3072, 8192, 24, 8], 128),
    ],
  },
  {
    name: 'Llama 3.3',
    kind: ['llama', 'llama3.3', 131_072, 128_256],
    usage: { oldestDays: 430, popularity: 2 },
    sizes: [llama70],
  },
  {
    name: 'Qwen 2.5',
    kind: ['qwen2', 'apache-2.0', 32_768, 152_064],
    usage: { oldestDays: 540, popularity: 2 },
    sizes: [
      size('0.5B', 0.494, [24, 896, 4864, 14, 2]),
      size('1.5B', 1.54, [28, 1536, 8960, 12, 2]),
      size('3B', 3.09, [36, 2048, 11_008, 16, 2]),
      qwen7,
      qwen14,
      size('32B', 32.8, [64, 5120, 27_648, 40, 8]),
      size('72B', 72.7, [80, 8192, 29_568, 64, 8]),
    ],
  },
  {
    name: 'Qwen 3',
    kind: ['qwen3', 'apache-2.0', 40_960, 151_936],
    usage: { oldestDays: 280, popularity: 3 },
    sizes: [
      size('0.6B', 0.596, [28, 1024, 3072, 16, 8], 128),
      size('1.7B', 1.72, [28, 2048, 6144, 16, 8], 128),
      size('4B', 4.02, [36, 2560, 9728, 32, 8], 128),
      size('8B', 8.19, [36, 4096, 12_288, 32, 8], 128),
      size('14B', 14.8, [40, 5120, 17_408, 40, 8], 128),
      size('32B', 32.8, [64, 5120, 25_600, 64, 8], 128),
    ],
  },
  {
    name: 'Mistral Small',
    kind: ['llama', 'apache-2.0', 32_768, 131_072],
    usage: { oldestDays: 380, popularity: 2 },
    sizes: [size('24B', 23.6, [40, 5120, 32_768, 32, 8], 128)],
  },
  {
    name: 'Mistral Large',
    kind: ['llama', 'mistral-research', 131_072, 32_768],
    usage: { oldestDays: 480, popularity: 0.7 },
    only: ['Instruct', 'Storyteller', 'Translator'],
    sizes: [size('123B', 122.6, [88, 12_288, 28_672, 96, 8])],
  },
  {
    name: 'Gemma 3',
    kind: ['gemma3', 'gemma', 131_072, 262_144],
    usage: { oldestDays: 330, popularity: 2.5 },
    sizes: [
      size('1B', 1.0, [26, 1152, 6912, 4, 1], 256),
      size('4B', 3.88, [34, 2560, 10_240, 8, 4], 256),
      size('12B', 11.8, [48, 3840, 15_360, 16, 8], 256),
      size('27B', 27.0, [62, 5376, 21_504, 32, 16], 128),
    ],
  },
  {
    name: 'Phi 4',
    kind: ['phi3', 'mit', 16_384, 100_352],
    usage: { oldestDays: 370, popularity: 1.5 },
    sizes: [size('14B', 14.7, [40, 5120, 17_920, 40, 10])],
  },
  {
    name: 'SmolLM 2',
    kind: ['llama', 'apache-2.0', 8192, 49_152],
    usage: { oldestDays: 460, popularity: 1.4 },
    sizes: [
      size('135M', 0.1345, [30, 576, 1536, 9, 3]),
      size('360M', 0.362, [32, 960, 2560, 15, 5]),
      size('1.7B', 1.71, [24, 2048, 8192, 32, 32]),
    ],
  },
  {
    name: 'DeepSeek R1 Distill',
    kind: ['qwen2', 'mit', 131_072, 152_064],
    usage: { oldestDays: 390, popularity: 3 },
    only: ['Reasoning', 'Math', 'Coder'],
    sizes: [qwen7, qwen14],
  },
  {
    name: 'BERT',
    kind: ['bert', 'mit', 512, 30_522],
    usage: { oldestDays: 650, popularity: 1 },
    only: ['Embed'],
    sizes: [
      size('Base 110M', 0.109, [12, 768, 3072, 12, 12]),
      size('Large 340M', 0.335, [24, 1024, 4096, 16, 16]),
    ],
  },
]
