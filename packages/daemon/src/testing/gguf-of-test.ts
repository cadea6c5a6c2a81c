import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeGguf } from '@shoal/model-file/testing'

type Metadata = Record<string, string | number>

/** Adds a model to the local models: a file with complete metadata and a single weight tensor. */
export function addModel(folder: string, name: string, metadata: Metadata): string {
  const bytes = makeGguf({
    metadata: {
      'general.architecture': 'llama',
      'general.file_type': 0,
      'llama.context_length': 4096,
      ...metadata,
    },
    tensors: [{ name: 'token_embd.weight', shape: [64], type: 'F32' }],
  })
  return write(join(folder, name), `${name}-F32.gguf`, bytes)
}

/** Adds a model that is split into two files. */
export function addShards(folder: string, name: string): string[] {
  return [0, 1].map((index) => {
    const metadata = { 'split.count': 2, 'split.no': index }
    const tensors = [{ name: `blk.${index}.weight`, shape: [64], type: 'F32' }]
    const first = { 'general.architecture': 'llama', 'general.file_type': 0 }
    const bytes = makeGguf({ metadata: { ...metadata, ...(index === 0 && first) }, tensors })
    return write(join(folder, name), `${name}-F32-0000${index + 1}-of-00002.gguf`, bytes)
  })
}

function write(folder: string, filename: string, bytes: Uint8Array): string {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, filename), bytes)
  return join(folder, filename)
}
