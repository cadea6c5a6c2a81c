import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const kibibyte = 1024
const mebibyte = 1024 * kibibyte
const blockBytes = 64 * kibibyte

/** The sizes of the models' data, in bytes. Files larger than 16 MiB have more than one chunk. */
const sizes = {
  tide: 24 * kibibyte,
  reef: 8 * kibibyte,
  surge: 33 * mebibyte,
  gale: 17 * mebibyte,
  storm: 17 * mebibyte,
}

/** Creates valid GGUF files that compress well and whose chunks all differ. */
export async function makeModelFiles(checkout: string, directory: string) {
  const module = join(checkout, 'packages/model-file/src/testing/make-gguf.ts')
  const { makeGguf } = await import(pathToFileURL(module).href)
  for (const [place, [name, bytes]] of Object.entries(sizes).entries()) {
    const metadata = {
      'general.architecture': 'llama',
      'general.name': name,
      'general.file_type': 7,
      'llama.context_length': 4096,
    }
    const tensors = [{ name: 'blk.0.ffn_up.weight', shape: [bytes], type: 'I8' }]
    const fill = (data: Uint8Array) => {
      for (let block = 0; block * blockBytes < data.length; block += 1) {
        data.fill(((block * 5 + place) % 251) + 1, block * blockBytes, (block + 1) * blockBytes)
      }
    }
    await writeFile(join(directory, `${name}-Q8_0.gguf`), makeGguf({ metadata, tensors, fill }))
  }
}
