/**
 * Queries that people type, and grades for how well each model of the catalogue matches them. The grades were chosen
 * before the order of search results was designed. They describe what a person wants, not what the search does.
 * After a change to the catalogue, judge the queries again.
 */
import type { CatalogueModel, Facts } from './catalogue-model.ts'

/** How well a model matches a query. 3: exactly; 2: nearly; 1: related; 0: not related. */
export type Grade = 0 | 1 | 2 | 3

/** All given conditions must hold. If a condition is a list, one of its values must match. */
export type Condition = {
  [Fact in Exclude<keyof Facts, 'uses' | 'parameter_count'>]?: string | readonly string[]
} & {
  name?: string
  owner?: string
  use?: string | readonly string[]
  minDownloads?: number
  maxParameters?: number
}

/**
 * A query and its rules. The first rule that applies to a model determines the model's grade. If no rule applies, the
 * grade is 0.
 */
export type JudgedQuery = { q: string; rules: readonly (readonly [Grade, Condition])[] }

export function gradeModel({ rules }: JudgedQuery, model: CatalogueModel): Grade {
  return rules.find(([, condition]) => isMet(condition, model))?.[0] ?? 0
}

function isMet(condition: Condition, model: CatalogueModel): boolean {
  const { use, minDownloads = 0, maxParameters = Number.POSITIVE_INFINITY, ...equal } = condition
  if (model.downloads < minDownloads || model.parameter_count > maxParameters) return false
  if (use !== undefined && ![use].flat().some((one) => model.uses.includes(one))) return false
  return Object.entries(equal).every(([field, wanted]) =>
    [wanted].flat().includes(model[field as keyof typeof equal]),
  )
}

const official = { origin: 'official' } as const
const copy = { origin: ['official', 'repack'] } as const
/** A model that was published under its own name by the people who trained it. */
const known = { origin: ['official', 'fine-tune'] } as const
const functionCallers = [
  'functionary',
  'function',
  'gorilla',
  'nexusraven',
  'firefunction',
  'xlam',
  'hammer',
  'groq',
] as const
const chats = ['chat', 'instruct', 'reasoning'] as const

export const judgedQueries: readonly JudgedQuery[] = [
  // Exact names
  {
    q: 'llama-3.3-70b-instruct',
    rules: [
      [3, { name: 'llama-3.3-70b-instruct' }],
      [2, { family: 'llama', version: '3.3', line: '', ...copy }],
      [1, { family: 'llama', version: '3.3' }],
      [1, { family: 'llama', size: '70b', line: '', ...copy }],
    ],
  },
  {
    q: 'Qwen2.5-Coder-32B-Instruct',
    rules: [
      [3, { name: 'qwen2.5-coder-32b-instruct' }],
      [2, { family: 'qwen', version: '2.5', line: 'coder', size: '32b' }],
      [2, { family: 'qwen', version: '2.5', line: 'coder', ...official }],
      [1, { family: 'qwen', version: '2.5', line: ['coder', ''] }],
    ],
  },
  {
    q: 'nomic-embed-text-v1.5',
    rules: [
      [3, { name: 'nomic-embed-text-v1.5' }],
      [2, { family: 'nomic-embed', version: '1.5' }],
      [2, { family: 'nomic-embed', line: ['', 'moe'], ...official }],
      [1, { family: 'nomic-embed' }],
    ],
  },
  {
    q: 'phi-4',
    rules: [
      [3, { name: 'phi-4' }],
      [2, { family: 'phi', version: '4', line: '', ...copy }],
      [2, { family: 'phi', version: '4', ...official }],
      [1, { family: 'phi', version: '4' }],
    ],
  },
  {
    q: 'tinyllama 1.1b chat',
    rules: [
      [3, { family: 'tinyllama', version: '1.0', variant: 'chat', ...official }],
      [2, { family: 'tinyllama', variant: 'chat', ...copy }],
      [1, { family: 'tinyllama' }],
    ],
  },
  {
    q: 'gpt-oss 20b',
    rules: [
      [3, { name: 'gpt-oss-20b' }],
      [2, { family: 'gpt-oss', size: '20b', ...copy }],
      [2, { family: 'gpt-oss', ...official }],
      [1, { family: 'gpt-oss' }],
    ],
  },
  {
    q: 'deepseek r1 0528 qwen3 8b',
    rules: [
      [3, { name: 'deepseek-r1-0528-qwen3-8b' }],
      [2, { family: 'deepseek', version: 'r1', line: 'distill-qwen', size: '8b' }],
      [1, { family: 'deepseek', version: 'r1' }],
    ],
  },
  {
    q: 'bge-m3',
    rules: [
      [3, { name: 'bge-m3' }],
      [2, { family: 'bge', version: 'm3' }],
      [1, { family: 'bge' }],
    ],
  },
  // A family and its version
  {
    q: 'llama 3.3',
    rules: [
      [3, { family: 'llama', version: '3.3', line: '', ...official }],
      [2, { family: 'llama', version: '3.3', line: '', ...copy }],
      [2, { family: 'llama', version: '3.3', origin: 'fine-tune' }],
      [1, { family: 'llama' }],
    ],
  },
  {
    q: 'llama3',
    rules: [
      [3, { family: 'llama', version: '3', line: '', ...official }],
      [2, { family: 'llama', version: ['3.1', '3.2', '3.3'], line: '', ...official }],
      [2, { family: 'llama', version: '3', line: '', ...copy }],
      [1, { family: 'llama', version: ['3', '3.1', '3.2', '3.3'] }],
    ],
  },
  {
    q: 'gemma 2',
    rules: [
      [3, { family: 'gemma', version: '2', line: '', ...official }],
      [2, { family: 'gemma', version: '2', line: ['', 'jpn'], ...copy }],
      [1, { family: 'gemma' }],
    ],
  },
  {
    q: 'qwen 3',
    rules: [
      [3, { family: 'qwen', version: '3', line: '', ...official }],
      [2, { family: 'qwen', version: '3', ...official }],
      [2, { family: 'qwen', version: '3', line: '', ...copy }],
      [1, { family: 'qwen' }],
    ],
  },
  {
    q: 'mistral v0.3',
    rules: [
      [3, { family: 'mistral', version: '0.3', ...official }],
      [2, { family: 'mistral', version: '0.3', ...copy }],
      [1, { family: 'mistral', version: '0.3' }],
      [1, { family: 'mistral', line: '', ...official }],
    ],
  },
  {
    q: 'granite 3.3',
    rules: [
      [3, { family: 'granite', version: '3.3', ...official }],
      [2, { family: 'granite', version: '3.3', ...copy }],
      [1, { family: 'granite' }],
    ],
  },
  {
    q: 'smollm2',
    rules: [
      [3, { family: 'smollm', version: '2', line: '', ...official }],
      [2, { family: 'smollm', version: '2', line: '', ...copy }],
      [1, { family: 'smollm' }],
    ],
  },
  {
    q: 'phi 3.5',
    rules: [
      [3, { family: 'phi', version: '3.5', ...official }],
      [2, { family: 'phi', version: '3.5', ...copy }],
      [1, { family: 'phi' }],
    ],
  },
  {
    q: 'yi 1.5',
    rules: [
      [3, { family: 'yi', version: '1.5', line: '', ...official }],
      [2, { family: 'yi', version: '1.5', ...copy }],
      [1, { family: 'yi' }],
    ],
  },
  {
    q: 'olmo 2',
    rules: [
      [3, { family: 'olmo', version: '2', ...official }],
      [2, { family: 'olmo', version: '2', ...copy }],
      [1, { family: 'olmo' }],
    ],
  },
  // A family and a size
  {
    q: 'qwen 7b',
    rules: [
      [3, { family: 'qwen', size: '7b', line: '', variant: chats, ...official }],
      [2, { family: 'qwen', size: '7b', ...official }],
      [2, { family: 'qwen', size: '7b', line: '', ...copy }],
      [1, { family: 'qwen', size: '7b' }],
      [1, { family: 'deepseek', size: '7b', line: 'distill-qwen' }],
    ],
  },
  {
    q: 'llama 8b',
    rules: [
      [3, { family: 'llama', size: '8b', line: '', ...official }],
      [2, { family: 'llama', size: '8b', line: '', ...copy }],
      [2, { family: 'llama', size: '8b', ...known, minDownloads: 300_000 }],
      [1, { family: 'llama', size: '8b' }],
      [1, { family: 'deepseek', size: '8b', line: 'distill-llama' }],
    ],
  },
  {
    q: 'gemma 3 4b',
    rules: [
      [
        3,
        { family: 'gemma', version: '3', size: '4b', line: '', variant: 'instruct', ...official },
      ],
      [2, { family: 'gemma', version: '3', size: '4b', line: '', ...copy }],
      [1, { family: 'gemma', version: ['3', '3n'] }],
    ],
  },
  {
    q: 'mistral 7b instruct',
    rules: [
      [3, { family: 'mistral', size: '7b', line: '', variant: 'instruct', ...official }],
      [2, { family: 'mistral', size: '7b', line: '', ...copy }],
      [1, { family: 'mistral', size: '7b' }],
      [1, { family: 'mistral', variant: 'instruct', ...official }],
    ],
  },
  {
    q: 'qwen3 30b',
    rules: [
      [3, { family: 'qwen', version: '3', size: '30b-a3b', line: '', ...official }],
      [2, { family: 'qwen', version: '3', size: '30b-a3b', ...copy }],
      [1, { family: 'qwen', version: '3' }],
    ],
  },
  {
    q: 'llama 3.2 1b',
    rules: [
      [3, { family: 'llama', version: '3.2', size: '1b', line: '', ...official }],
      [2, { family: 'llama', version: '3.2', size: '1b', ...copy }],
      [1, { family: 'llama', version: '3.2' }],
    ],
  },
  {
    q: '70b instruct',
    rules: [
      [3, { size: '70b', variant: ['instruct', 'chat'], ...official }],
      [3, { size: '70b', variant: 'instruct', ...known, minDownloads: 100_000 }],
      [2, { size: '70b', variant: ['instruct', 'chat'] }],
      [1, { size: '70b' }],
    ],
  },
  // Names with and without dots and dashes
  {
    q: 'qwen2.5 coder',
    rules: [
      [3, { family: 'qwen', version: '2.5', line: 'coder', ...official }],
      [2, { family: 'qwen', version: '2.5', line: 'coder', ...copy }],
      [1, { family: 'qwen', line: 'coder' }],
      [1, { family: 'qwen', version: '2.5', use: 'code' }],
    ],
  },
  {
    q: 'qwen 2.5 coder 7b',
    rules: [
      [3, { family: 'qwen', version: '2.5', line: 'coder', size: '7b', ...official }],
      [2, { family: 'qwen', version: '2.5', line: 'coder', size: '7b', ...copy }],
      [2, { family: 'qwen', version: '2.5', line: 'coder', ...official }],
      [1, { family: 'qwen', version: '2.5', line: 'coder' }],
      [1, { family: 'qwen', version: '2.5', use: 'code' }],
    ],
  },
  {
    q: 'llama-3-1-8b-instruct',
    rules: [
      [3, { name: 'meta-llama-3.1-8b-instruct' }],
      [2, { family: 'llama', version: '3.1', size: '8b', line: '', ...copy }],
      [1, { family: 'llama', version: '3.1', size: '8b' }],
      [1, { family: 'llama', version: '3.1', line: '', ...official }],
    ],
  },
  {
    q: 'deepseek coder v2',
    rules: [
      [3, { family: 'deepseek', version: '2', line: 'coder', ...official }],
      [2, { family: 'deepseek', version: '2', line: 'coder', ...copy }],
      [2, { family: 'deepseek', line: 'coder', ...official }],
      [1, { family: 'deepseek', line: ['coder', ''] }],
    ],
  },
  {
    q: 'codellama',
    rules: [
      [3, { family: 'llama', line: 'code', ...official }],
      [2, { family: 'llama', line: ['code', 'phind'] }],
      [1, { family: 'llama', use: 'code' }],
    ],
  },
  {
    q: 'mixtral 8x7b',
    rules: [
      [3, { family: 'mistral', line: 'mixtral', size: '8x7b', ...official }],
      [2, { family: 'mistral', line: 'mixtral', ...copy }],
      [2, { family: 'mistral', size: '8x7b', origin: 'fine-tune' }],
      [1, { family: 'mistral', size: ['8x7b', '8x22b'] }],
    ],
  },
  {
    q: 'command r plus',
    rules: [
      [3, { name: 'c4ai-command-r-plus' }],
      [2, { family: 'command-r', line: 'plus' }],
      [2, { family: 'command-r', ...official }],
      [1, { family: 'command-r' }],
    ],
  },
  {
    q: 'r1 distill llama 8b',
    rules: [
      [3, { name: 'deepseek-r1-distill-llama-8b' }],
      [2, { family: 'deepseek', line: 'distill-llama', size: '8b' }],
      [2, { family: 'deepseek', line: 'distill-llama', ...official }],
      [1, { family: 'deepseek', version: 'r1' }],
    ],
  },
  // Uses
  {
    q: 'code',
    rules: [
      [3, { use: 'code', ...known, minDownloads: 150_000 }],
      [2, { use: 'code', minDownloads: 10_000 }],
      [1, { use: 'code' }],
    ],
  },
  {
    q: 'embedding',
    rules: [
      [3, { use: 'embedding', ...official, minDownloads: 150_000 }],
      [2, { use: 'embedding', minDownloads: 10_000 }],
      [1, { use: ['embedding', 'rerank'] }],
    ],
  },
  {
    q: 'vision',
    rules: [
      [3, { use: 'vision', ...known, minDownloads: 150_000 }],
      [2, { use: 'vision', minDownloads: 10_000 }],
      [1, { use: 'vision' }],
    ],
  },
  {
    q: 'german',
    rules: [
      [3, { use: 'german', ...known, minDownloads: 50_000 }],
      [2, { use: 'german', minDownloads: 1_000 }],
      [1, { use: 'german' }],
    ],
  },
  {
    q: 'medical',
    rules: [
      [3, { use: 'medical', ...known, minDownloads: 50_000 }],
      [2, { use: 'medical', minDownloads: 1_000 }],
      [1, { use: 'medical' }],
    ],
  },
  {
    q: 'legal',
    rules: [
      [3, { use: 'legal', ...known }],
      [2, { use: 'legal', minDownloads: 1_000 }],
      [1, { use: 'legal' }],
    ],
  },
  {
    q: 'function calling',
    rules: [
      [3, { line: functionCallers, ...known }],
      [3, { use: 'tools', ...known, minDownloads: 100_000 }],
      [2, { use: 'tools', minDownloads: 5_000 }],
      [1, { use: 'tools' }],
    ],
  },
  {
    q: 'text to sql',
    rules: [
      [3, { use: 'sql', ...known }],
      [2, { use: 'sql', minDownloads: 1_000 }],
      [1, { use: 'sql' }],
    ],
  },
  {
    q: 'roleplay',
    rules: [
      [3, { use: 'roleplay', ...known, minDownloads: 100_000 }],
      [2, { use: 'roleplay', minDownloads: 5_000 }],
      [1, { use: ['roleplay', 'story'] }],
    ],
  },
  {
    q: 'translation',
    rules: [
      [3, { use: 'translation', ...known, minDownloads: 40_000 }],
      [2, { use: 'translation', minDownloads: 1_000 }],
      [1, { use: 'translation' }],
    ],
  },
  {
    q: 'reranker',
    rules: [
      [3, { use: 'rerank', ...official }],
      [2, { use: 'rerank' }],
      [1, { use: 'embedding', ...official }],
    ],
  },
  {
    q: 'math',
    rules: [
      [3, { line: 'math', ...official }],
      [3, { use: 'math', ...known, minDownloads: 50_000 }],
      [2, { use: 'math', minDownloads: 5_000 }],
      [1, { use: 'math' }],
    ],
  },
  {
    q: 'speech recognition',
    rules: [
      [3, { family: 'whisper', ...official }],
      [2, { family: 'whisper' }],
      [2, { use: 'audio', line: 'voxtral', ...official }],
      [1, { use: 'audio' }],
    ],
  },
  {
    q: 'multilingual embedding',
    rules: [
      [3, { use: 'embedding', line: ['multilingual', 'm3', 'moe'], ...official }],
      [3, { family: ['qwen', 'gemma'], line: 'embedding', ...official }],
      [
        3,
        {
          family: ['granite', 'arctic-embed', 'jina-embeddings', 'labse'],
          use: 'multilingual',
          variant: 'embedding',
          ...official,
        },
      ],
      [2, { use: 'multilingual', variant: 'embedding' }],
      [1, { use: 'embedding' }],
    ],
  },
  {
    q: 'uncensored llama',
    rules: [
      [3, { family: 'llama', use: 'uncensored', minDownloads: 20_000 }],
      [2, { family: 'llama', use: 'uncensored' }],
      [1, { use: 'uncensored' }],
    ],
  },
  {
    q: 'japanese llama',
    rules: [
      [3, { family: 'llama', use: 'japanese', ...known }],
      [2, { family: 'llama', use: 'japanese' }],
      [1, { use: 'japanese' }],
    ],
  },
  {
    q: 'small model for coding',
    rules: [
      [3, { use: 'code', ...known, maxParameters: 4e9, minDownloads: 50_000 }],
      [3, { use: 'code', ...known, maxParameters: 9e9, minDownloads: 500_000 }],
      [2, { use: 'code', maxParameters: 9e9, minDownloads: 1_000 }],
      [1, { use: 'code' }],
    ],
  },
  // Architectures
  {
    q: 'qwen2vl',
    rules: [
      [3, { architecture: 'qwen2vl', ...official }],
      [2, { architecture: 'qwen2vl' }],
      [1, { family: 'qwen', line: 'vl' }],
    ],
  },
  {
    q: 'gemma3n',
    rules: [
      [3, { family: 'gemma', version: '3n', ...official }],
      [2, { family: 'gemma', version: '3n' }],
      [1, { family: 'gemma', version: '3', ...official }],
    ],
  },
  // Publishers and their lines
  {
    q: 'nous hermes',
    rules: [
      [3, { owner: 'nousresearch', line: 'hermes', origin: 'fine-tune' }],
      [2, { line: 'hermes' }],
      [2, { line: 'openhermes', origin: 'fine-tune' }],
      [1, { line: ['openhermes', 'deephermes'] }],
    ],
  },
  {
    q: 'hermes 3',
    rules: [
      [3, { line: 'hermes', edition: '3', origin: 'fine-tune' }],
      [2, { line: 'hermes', edition: '3' }],
      [2, { line: 'deephermes', origin: 'fine-tune' }],
      [1, { line: ['hermes', 'deephermes', 'openhermes'] }],
    ],
  },
  {
    q: 'dolphin',
    rules: [
      [3, { line: 'dolphin', origin: 'fine-tune' }],
      [2, { line: 'dolphin' }],
    ],
  },
  {
    q: 'microsoft phi',
    rules: [
      [3, { family: 'phi', ...official }],
      [2, { family: 'phi', ...copy }],
      [1, { family: 'phi' }],
    ],
  },
  // Typos and prefixes
  {
    q: 'mistrall',
    rules: [
      [3, { family: 'mistral', line: ['', 'nemo', 'small', 'large'], ...official }],
      [2, { family: 'mistral', line: ['', 'nemo', 'small', 'large'], ...copy }],
      [2, { family: 'mistral', ...official }],
      [1, { family: 'mistral' }],
    ],
  },
  {
    q: 'gema 3',
    rules: [
      [3, { family: 'gemma', version: '3', line: '', ...official }],
      [2, { family: 'gemma', version: ['3', '3n'], line: '', ...copy }],
      [1, { family: 'gemma' }],
    ],
  },
  {
    q: 'deepse',
    rules: [
      [3, { family: 'deepseek', ...official, minDownloads: 100_000 }],
      [2, { family: 'deepseek', ...copy }],
      [1, { family: 'deepseek' }],
    ],
  },
  {
    q: 'devstrall small',
    rules: [
      [3, { family: 'mistral', line: 'devstral', ...official }],
      [2, { family: 'mistral', line: 'devstral' }],
      [1, { family: 'mistral', line: 'small', ...official }],
      [1, { family: 'mistral', line: 'codestral', ...official }],
    ],
  },
]
