/** What shoal is compared with: llama.cpp's templates, vocabularies and test cases, and the prompts that it renders. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cachedBuild, hashFiles } from '../testing/build-cache.ts'
import { openLlamaSource } from '../testing/llama-source.ts'
import { buildNative } from './build-native.ts'
import { listRenderings } from './list-renderings.ts'

export type LlamaReference = AsyncDisposable & {
  /** A folder with those files of llama.cpp's sources that shoal reads: `models/`, and `docs/` for their text. */
  path: string
  /** Resolves to what a program in `native/` has printed: the parsed objects, one from each line. */
  read(name: Program): Promise<unknown[]>
}

type Program = (typeof programs)[number]

const programs = ['cases', 'renderings', 'schemas'] as const
const root = join(import.meta.dirname, '..')
/** The lock file contains the version of llama.cpp, and the hashes of its sources and its libraries. */
const inputs = [
  ...['conformance/native/*', 'testing/llama-source.ts', 'package-lock.json'],
  'conformance/{build-native,conversations,list-renderings,llama-reference}.ts',
]

/** Returns the key of a result that depends on the reference, and on the files of shoal that match these patterns. */
export const toKey = (...patterns: string[]): string => hashFiles(root, [...inputs, ...patterns])

/**
 * Compiles the programs in `native/` and runs them, unless that has been done before with the same version of llama.cpp
 * and the same conversations. No file of shoal's packages is part of the reference. Disposing of it removes its folder.
 */
export async function openLlamaReference(): Promise<LlamaReference> {
  const folder = await mkdtemp(join(tmpdir(), 'shoal-conformance-'))
  const path = join(folder, 'reference')
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    await cachedBuild({ name: 'llama-reference', key: toKey(), build }, path)
  } catch (error) {
    await remove()
    throw error
  }
  return {
    path,
    async read(name) {
      const lines = (await readFile(join(path, toFile(name)), 'utf8')).trim().split('\n')
      return lines.map((line) => JSON.parse(line))
    },
    [Symbol.asyncDispose]: remove,
  }
}

async function build(folder: string): Promise<void> {
  await using source = await openLlamaSource()
  for (const name of ['models', 'docs']) {
    await cp(join(source.path, name), join(folder, name), { recursive: true })
  }
  const run = await buildNative(source)
  for (const name of programs) {
    const input = name === 'renderings' ? listRenderings(source.path).map(({ line }) => line) : []
    await writeFile(join(folder, toFile(name)), await run(name, input.join('\n')))
  }
}

const toFile = (program: Program) => `${program}.jsonl`
