import { truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from '../../harness/temporary-folder.ts'
import { writeFullGguf, writeHollowGguf } from './gguf-files.ts'

/** The model name that the publish page suggests for the files that can be uploaded. */
export const uploadedModel = 'smollm-2-135m-poet'

export type Uploads = Awaited<ReturnType<typeof writeUploads>>

/**
 * Writes the files that are chosen on the publish page in the screenshots. Returns the paths of the files that can be
 * uploaded, of those that are too large, and of those that are refused.
 */
export async function writeUploads() {
  using stack = new DisposableStack()
  const { path: folder } = stack.use(temporaryFolder())
  const small = await writeSmall(folder)
  const large = await writeLarge(folder)
  const refused = await writeRefused(folder)
  const all = stack.move()
  return { small, large, refused, [Symbol.dispose]: () => all.dispose() }
}

const poet = {
  'general.architecture': 'llama',
  'general.type': 'model',
  'general.name': 'SmolLM 2 135M Poet',
  'general.license': 'apache-2.0',
  'general.tags': ['text-generation', 'creative', 'en'],
  'llama.context_length': 8192,
  'llama.embedding_length': 576,
  'llama.block_count': 30,
}

/** Writes two files that can be uploaded. */
const writeSmall = (folder: string) =>
  Promise.all([
    writeFullGguf(join(folder, `${uploadedModel}-Q4_K_M.gguf`), {
      metadata: { ...poet, 'general.file_type': 15 },
      weights: { Q4_K: 55.1e6, Q6_K: 51.1e6, Q8_0: 28.3e6 },
    }),
    writeFullGguf(join(folder, `${uploadedModel}-Q8_0.gguf`), {
      metadata: { ...poet, 'general.file_type': 7 },
      weights: { Q8_0: 134.5e6 },
    }),
  ])

/** Writes files that are too large to upload from a browser, with one shard missing. */
function writeLarge(folder: string) {
  const metadata = {
    'general.architecture': 'gemma3',
    'general.name': 'Gemma 3 27B Lighthouse',
    'general.license': 'gemma',
    'gemma3.context_length': 131_072,
  }
  const shard = { 'split.count': 2, 'split.no': 0, 'general.file_type': 7 }
  return Promise.all([
    writeHollowGguf(join(folder, 'gemma-3-27b-lighthouse-Q4_K_M.gguf'), {
      metadata: { ...metadata, 'general.file_type': 15 },
      weights: { Q4_K: 22e9, Q6_K: 5e9 },
    }),
    writeHollowGguf(join(folder, 'gemma-3-27b-lighthouse-Q8_0-00001-of-00002.gguf'), {
      metadata: { ...metadata, ...shard },
      weights: { Q8_0: 13.5e9 },
    }),
  ])
}

/** Writes a file that is not a model, and an incomplete model file. */
async function writeRefused(folder: string) {
  const text = join(folder, 'shopping-list.gguf')
  await writeFile(text, 'eggs, lemons, coffee')
  const cut = join(folder, 'llama-3.2-3b-sailor-Q4_K_M.gguf')
  await writeHollowGguf(cut, {
    metadata: { 'general.architecture': 'llama', 'general.file_type': 15 },
    weights: { Q4_K: 3.2e9 },
  })
  await truncate(cut, 412_000_000)
  return [text, cut]
}
