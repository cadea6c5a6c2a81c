import { type Random, randomFrom } from './random.ts'
import { families, licenses, qualities, quantizations, rareWords, tags, topics } from './words.ts'

export const queryKinds = {
  'common word': commonWord,
  'rare word': rareWord,
  prefix: prefix,
  'two words': twoWords,
  'one typo': oneTypo,
  'no match': noMatch,
  'word and filters': wordAndFilters,
  'filters only': filtersOnly,
  'no query': noQuery,
} as const

type Query = Record<string, string>

const sorts = ['downloads', 'likes', 'created_at', 'relevance'] as const
const offsets = [0, 0, 20, 1_000] as const
/** Each of these words occurs in at least a sixth and at most half of all models. */
const commonWords = [
  'instruct',
  'llama',
  'programming',
  'small',
  'chat',
  'distilled',
  'qwen',
] as const

/** Returns paths of searches with typical queries, orders and offsets. The paths are the same in every run. */
export function searchPaths(kind: keyof typeof queryKinds, count: number): string[] {
  const random = randomFrom(kind.length * 1_000 + count)
  return Array.from({ length: count }, () => {
    const query: Query = { ...queryKinds[kind](random), sort: random.pick(sorts) }
    const offset = random.pick(offsets)
    if (offset > 0) query.offset = String(offset)
    return `/v1/models?${new URLSearchParams(query)}`
  })
}

function commonWord(random: Random): Query {
  return { q: random.pick(commonWords) }
}

function rareWord(random: Random): Query {
  return { q: random.pick(rareWords) }
}

/** Returns a query with an incomplete word, such as the text in the search field while a user is typing. */
function prefix(random: Random): Query {
  const word = random.pick([...commonWords, ...topics, random.pick(rareWords)])
  return { q: word.slice(0, 2 + random.integer(3)).trim() }
}

function twoWords(random: Random): Query {
  const second = random.chance(0.5) ? random.pick(topics) : random.pick(qualities)
  return { q: `${random.pick(families).name} ${second}` }
}

function oneTypo(random: Random): Query {
  const word = random.chance(0.5) ? random.pick(commonWords) : random.pick(rareWords)
  const at = 1 + random.integer(word.length - 1)
  return { q: `${word.slice(0, at)}q${word.slice(at + 1)}` }
}

function noMatch(random: Random): Query {
  return { q: `zq${random.hex(8)}` }
}

function wordAndFilters(random: Random): Query {
  return { ...commonWord(random), ...filtersOnly(random) }
}

function filtersOnly(random: Random): Query {
  const filters: (() => Query)[] = [
    () => ({ architecture: random.pick(families).architecture }),
    () => ({ license: random.pick(licenses) }),
    () => ({ tag: random.pickSkewed(tags) }),
    () => ({ quantization: random.pick(quantizations).label }),
    () => ({ max_parameters: '9000000000', min_parameters: '3000000000' }),
    () => ({ max_file_size_bytes: '6000000000' }),
    () => ({ max_memory_bytes: '8000000000' }),
  ]
  return { ...random.pick(filters)(), ...random.pick(filters)() }
}

function noQuery(): Query {
  return {}
}
