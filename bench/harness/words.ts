/** Words for the names, tags and descriptions of made-up models. */
import { randomFrom } from './random.ts'

export const families = [
  { name: 'llama', architecture: 'llama', versions: ['2', '3', '3.1', '3.2', '3.3'] },
  { name: 'qwen', architecture: 'qwen2', versions: ['1.5', '2', '2.5'] },
  { name: 'mistral', architecture: 'llama', versions: ['v0.1', 'v0.2', 'v0.3'] },
  { name: 'qwen', architecture: 'qwen3', versions: ['3'] },
  { name: 'gemma', architecture: 'gemma2', versions: ['2'] },
  { name: 'gemma', architecture: 'gemma3', versions: ['3'] },
  { name: 'phi', architecture: 'phi3', versions: ['3', '3.5', '4'] },
  { name: 'deepseek', architecture: 'deepseek2', versions: ['v2', 'v3', 'r1'] },
  { name: 'mixtral', architecture: 'llama', versions: ['v0.1'] },
  { name: 'tinyllama', architecture: 'llama', versions: ['1.1'] },
  { name: 'falcon', architecture: 'falcon', versions: ['2', '3'] },
  { name: 'granite', architecture: 'granite', versions: ['3.0', '3.1'] },
  { name: 'olmo', architecture: 'olmo2', versions: ['2'] },
  { name: 'starcoder', architecture: 'starcoder2', versions: ['2'] },
  { name: 'command', architecture: 'command-r', versions: ['r', 'r-plus'] },
  { name: 'mamba', architecture: 'mamba', versions: ['1', '2'] },
  { name: 'smollm', architecture: 'llama', versions: ['2'] },
  { name: 'bert', architecture: 'bert', versions: ['base', 'large'] },
] as const

/** Numbers of parameters, in billions. */
export const sizes = [7, 8, 3, 1.5, 14, 1, 0.5, 32, 13, 70, 27, 9, 2, 72, 123] as const

export const variants = [
  'instruct',
  'chat',
  'base',
  'coder',
  'it',
  'math',
  'vision',
  'reasoning',
  'embed',
] as const

export const licenses = [
  'apache-2.0',
  'mit',
  'llama3.1',
  'cc-by-nc-4.0',
  'gemma',
  'cc-by-4.0',
  'openrail',
  'gpl-3.0',
] as const

export const tags = [
  ...['gguf', 'text-generation', 'conversational', 'en', 'instruct', 'chat', 'imatrix', 'code'],
  ...['merge', 'multilingual', 'zh', 'math', 'roleplay', 'fr', 'de', 'es', 'reasoning', 'vision'],
  ...['function-calling', 'ja', 'long-context', 'uncensored', 'moe', 'ru', 'medical', 'dpo', 'ko'],
  ...['pt', 'summarization', 'finance', 'legal', 'translation', 'storytelling', 'rag', 'embedding'],
  ...['it', 'ar', 'agent', 'biology', 'chemistry', 'distilled', 'tiny', 'quantized', 'sql', 'pl'],
  ...['education', 'tr', 'vi', 'cybersecurity', 'speculative-decoding', 'lora-merged', 'sv', 'cs'],
] as const

export const quantizations = [
  { label: 'Q4_K_M', bitsPerWeight: 4.85 },
  { label: 'Q8_0', bitsPerWeight: 8.5 },
  { label: 'Q5_K_M', bitsPerWeight: 5.69 },
  { label: 'Q6_K', bitsPerWeight: 6.59 },
  { label: 'Q4_0', bitsPerWeight: 4.55 },
  { label: 'IQ4_XS', bitsPerWeight: 4.25 },
  { label: 'Q3_K_M', bitsPerWeight: 3.91 },
  { label: 'F16', bitsPerWeight: 16 },
] as const

/** `{…}` is replaced by a topic, a quality or a rare word. */
export const sentences = [
  'A {quality} model for {topic}, tuned on {rare} data.',
  'Quantized from the original weights with an importance matrix made from {topic} text.',
  'Answers questions about {topic} and follows instructions in a {quality} tone.',
  'Merged from {rare} and {rare} with spherical interpolation.',
  'Trained for three epochs on two million {quality} dialogues about {topic}.',
  'Works well at long context and keeps {topic} in mind.',
  'Needs a system prompt; see the card for the template of {rare}.',
  'An experiment in {topic}: expect {quality} results.',
  'Distilled from a larger teacher for {topic} on laptops.',
  'Evaluated against {rare} on {topic}, with {quality} scores.',
  'Supports tool calls, structured output and {topic}.',
  'Made for people who work in {topic} and want {quality} answers offline.',
] as const

export const topics = [
  ...['programming', 'mathematics', 'medicine', 'law', 'poetry', 'history', 'translation', 'chess'],
  ...[
    'chemistry',
    'biology',
    'physics',
    'finance',
    'accounting',
    'journalism',
    'teaching',
    'music',
  ],
  ...[
    'cooking',
    'travel',
    'gardening',
    'philosophy',
    'linguistics',
    'astronomy',
    'geology',
    'sports',
  ],
  ...['databases', 'security', 'networking', 'compilers', 'robotics', 'statistics', 'economics'],
  ...['agriculture', 'aviation', 'shipping', 'railways', 'insurance', 'archives', 'genealogy'],
  ...[
    'theatre',
    'fiction',
    'science fiction',
    'fantasy worlds',
    'interviews',
    'emails',
    'contracts',
  ],
  ...['patents', 'tax returns', 'clinical notes', 'bug reports', 'unit tests', 'shell scripts'],
] as const

export const qualities = [
  ...[
    'small',
    'careful',
    'friendly',
    'terse',
    'creative',
    'precise',
    'playful',
    'formal',
    'robust',
  ],
  ...[
    'fast',
    'multilingual',
    'neutral',
    'dry',
    'vivid',
    'honest',
    'experimental',
    'stable',
    'curious',
  ],
] as const

/** Thousands of made-up words. In real names, such words form the long tail of a search index. */
export const rareWords: readonly string[] = coinWords(30_000)

function coinWords(count: number): string[] {
  const random = randomFrom(7)
  const onsets = ['b', 'br', 'c', 'd', 'dr', 'f', 'g', 'h', 'j', 'k', 'l', 'm', 'n', 'p', 'r', 's']
  const more = ['sh', 'st', 't', 'th', 'tr', 'v', 'w', 'z']
  const vowels = ['a', 'e', 'i', 'o', 'u', 'ai', 'ea', 'io', 'y']
  const codas = ['', '', 'n', 'r', 's', 'l', 'x', 'm', 'th', 'ck']
  const words = new Set<string>()
  while (words.size < count) {
    const syllables = 2 + random.integer(2)
    let word = ''
    for (let at = 0; at < syllables; at += 1) {
      word += random.pick([...onsets, ...more]) + random.pick(vowels)
    }
    words.add(word + random.pick(codas))
  }
  return [...words]
}
