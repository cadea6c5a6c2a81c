import { expect, test } from 'vitest'
import type { IndexedModel } from './indexed-model.ts'
import { SearchIndex } from './search-index.ts'
import { sampleModel, sampleQuery } from './testing/samples.ts'

type Listed = Partial<Pick<IndexedModel, 'tags' | 'architecture' | 'description' | 'downloads'>>

/**
 * Small differences decide each query, so that a change to any rule or to the points that it gives changes the order.
 * Of two models with equal scores, the one that is listed later here comes first.
 */
const catalogue: Record<string, Listed> = {
  tide: {},
  'tide-chat': { downloads: 1_000_000 },
  'reef-coder': {},
  'reef-coder-long-title': { downloads: 4 },
  'surf-kelp': {},
  'surfing-kelp': { downloads: 6 },
  'kayaking-kelp': {},
  'paddle-kelp': { tags: ['kayak'], downloads: 4 },
  'eye-1b': { tags: ['vision'] },
  'lens-1b': { description: 'not vision' },
  'state-1b': { architecture: 'mamba' },
  'space-1b': { description: 'unlike mamba' },
  'lab-deep-sea': {},
  'lab-sea-deep': {},
  'wave-rider': {},
  'rider-wave': {},
  'night-white-owl': {},
  'owl-white-night': {},
  'shark-two': { downloads: 100 },
  'shark-one': { downloads: 50 },
  'whale-with-long-name': { downloads: 4 },
  whales: {},
  'squid-3.1-chat': {},
  'squid-30b-chat': {},
  'prawn-2-chat': {},
  'prawn-2.5-chat': { downloads: 4 },
  'crab-soup-kelp': {},
  'crab-kelp': { tags: ['soup'], downloads: 4 },
  'octopus-chat': {},
  'chat-octopus': {},
}

const names = Object.keys(catalogue)
const index = new SearchIndex()
for (const [seq, name] of names.entries()) {
  index.put(sampleModel(seq, { name, displayName: name, ...catalogue[name] }))
}

test.each([
  ['a whole name before a more popular model', 'tide', ['tide', 'tide-chat']],
  ['a larger share of the name', 'reef', ['reef-coder', 'reef-coder-long-title']],
  ['a whole word before its beginning', 'surf', ['surf-kelp', 'surfing-kelp']],
  ['the beginning of a word in the name before a tag', 'kayak', ['kayaking-kelp', 'paddle-kelp']],
  ['a tag before a description', 'vision', ['eye-1b', 'lens-1b']],
  ['the architecture before a description', 'mamba', ['state-1b', 'space-1b']],
  ['adjacent words in the same order', 'deep sea', ['lab-deep-sea', 'lab-sea-deep']],
  ['the word with which the name starts', 'rider', ['rider-wave', 'wave-rider']],
  ['only the words of this query', 'wave', ['wave-rider', 'rider-wave']],
  ['the first word of the query at the start', 'night owl', ['night-white-owl', 'owl-white-night']],
  ['more downloads', 'shark', ['shark-two', 'shark-one']],
  [
    'a few more downloads before a slightly better match',
    'whale',
    ['whale-with-long-name', 'whales'],
  ],
  ['a version before a size', 'squid 3', ['squid-3.1-chat', 'squid-30b-chat']],
  ['a version before its minor versions', 'prawn 2', ['prawn-2-chat', 'prawn-2.5-chat']],
  ['two words in the name before one and a tag', 'crab soup', ['crab-soup-kelp', 'crab-kelp']],
  ['a corrected word like the right one', 'octopuss', ['octopus-chat', 'chat-octopus']],
])('a search ranks highest: %s (%s)', (_rule, text, expected) => {
  const { seqs } = index.find({ ...sampleQuery, text, sort: 'relevance' })
  expect(seqs.map((seq) => names[seq])).toEqual(expected)
})
