/**
 * Tokenizes long texts with each vocabulary in llama.cpp's sources, both in blocks and as a whole, and compares the
 * tokens. Also tokenizes a value with the text of each control token, which must not become a control token.
 */
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { openVocabulary } from '../packages/daemon/src/testing/open-vocabulary.ts'
import { cachedBuild } from '../testing/build-cache.ts'
import { type LlamaReference, toKey } from './llama-reference.ts'

export type VocabularyResult = {
  vocabulary: string
  /** Describes the difference; empty if there is none. */
  detail: string
}

/**
 * Tokenizing takes a minute of processor time, so the results are kept until llama.cpp, the texts or the daemon's runtime
 * change.
 */
export async function scoreVocabularies(reference: LlamaReference): Promise<VocabularyResult[]> {
  const folder = await mkdtemp(join(tmpdir(), 'shoal-vocabularies-'))
  const [into, file] = [join(folder, 'kept'), 'results.json']
  const key = toKey(
    'conformance/score-vocabularies.ts',
    'packages/daemon/src/runtime/**',
    'packages/daemon/src/testing/open-vocabulary.ts',
  )
  const build = async (place: string) =>
    writeFile(join(place, file), JSON.stringify(await tokenizeAll(reference.path)))
  try {
    await cachedBuild({ name: 'vocabularies', key, build }, into)
    return JSON.parse(await readFile(join(into, file), 'utf8'))
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function tokenizeAll(sourcePath: string): Promise<VocabularyResult[]> {
  const texts = Object.entries(makeTexts(sourcePath))
  const results: VocabularyResult[] = []
  for (const path of globSync(join(sourcePath, 'models/ggml-vocab-*.gguf')).sort()) {
    await using vocabulary = await openVocabulary(path)
    const different: string[] = []
    for (const [name, text] of texts) {
      const tokens = await vocabulary.tokenizeInBlocks(text)
      if (tokens.join() !== vocabulary.tokenizeAtOnce(text).join()) different.push(name)
    }
    const forged = await vocabulary.findForged()
    if (forged.length > 0) different.push(`forged control tokens: ${forged.join(' ')}`)
    results.push({ vocabulary: basename(path), detail: different.join(', ') })
  }
  return results
}

function makeTexts(sourcePath: string) {
  const paths = globSync(join(sourcePath, 'docs/*.md')).sort()
  const documents = paths.map((path) => readFileSync(path, 'utf8'))
  const words = documents.join(' ').split(/\s+/)
  const russian = 'программа сначала проверяет каждую часть, а затем весь файл'.split(' ')
  const characters = [...`abcdeXYZ    \n\n\t.,'"(){}0123456789éüßабвгд文字列。，ひらがな🎉👍🏽`]
  const spaces = [' ', ' ', '  ', '\n', '\n\n', ' \n', '\t']
  const random = seededRandom()
  const pick = <T>(items: readonly T[]) => items[random(items.length)] as T
  const repeat = (count: number, make: () => string) => Array.from({ length: count }, make).join('')
  return {
    documents: documents.join('\n'),
    'mixed words': repeat(
      20_000,
      () => pick([pick(words), pick(words), pick(russian), pick(characters)]) + pick(spaces),
    ),
    'random characters': repeat(100_000, () => pick(characters)),
    Chinese: repeat(
      50_000,
      () => String.fromCodePoint(0x4e00 + random(800)) + pick(['', '', '', '', '，', '。\n']),
    ),
  }
}

/** Returns a function that returns pseudorandom numbers below `limit`. The numbers are the same in every run. */
function seededRandom() {
  let state = 7
  return (limit: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state % limit
  }
}
