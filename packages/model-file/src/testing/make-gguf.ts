/** Generates small GGUF files for tests and large ones for benchmarks. */

import { createCipheriv, createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { elementCount } from '../gguf/gguf-tensors.ts'
import { findTensorType, findTensorTypeId } from '../gguf/gguf-types.ts'
import { GgufBytes, type MetadataInput } from './gguf-bytes.ts'

export type { MetadataInput }

export type TensorInput = {
  name: string
  /** Innermost dimension first. */
  shape: number[]
  /** The tensor type, such as `Q8_0`. */
  type: string
}

export type GgufInput = {
  metadata?: Record<string, MetadataInput>
  tensors?: TensorInput[]
  /** Fills zeroed bytes with a tensor's data. The default data counts upwards. */
  fill?: (data: Uint8Array, tensor: TensorInput) => void
}

const alignment = 32

/** Returns a complete GGUF file, version 3. */
export function makeGguf({ metadata = {}, tensors = [], fill = countUp }: GgufInput): Uint8Array {
  const { header, places, sizeBytes } = makeHeader(metadata, tensors)
  const file = new Uint8Array(sizeBytes)
  file.set(header)
  for (const { tensor, offset, sizeBytes } of places) {
    fill(file.subarray(header.length + offset, header.length + offset + sizeBytes), tensor)
  }
  return file
}

const blockTensorBytes = 64 * 1024 * 1024
/** Row length of the tensors that `writeGgufFile` writes, in elements. */
const rowLength = 4096

/**
 * Writes a valid GGUF file of exactly `sizeBytes`, at least 64 KiB. The data is pseudorandom, depends only on `seed`
 * and does not repeat, so all chunks differ.
 */
export async function writeGgufFile(path: string, sizeBytes: number, seed = 0): Promise<void> {
  const header = headerOfSize(sizeBytes)
  await using file = await open(path, 'w')
  await file.writeFile(header)
  const key = createHash('sha256').update(`shoal ${seed}`).digest()
  const keystream = createCipheriv('aes-128-ctr', key.subarray(0, 16), key.subarray(16))
  const zeros = new Uint8Array(4 * 1024 * 1024)
  for (let left = sizeBytes - header.length; left > 0; ) {
    const bytes = keystream.update(zeros.subarray(0, Math.min(left, zeros.length)))
    await file.writeFile(bytes)
    left -= bytes.length
  }
}

/**
 * Returns the header of a file of `sizeBytes`. The file contains tensors of up to 64 MiB, followed by a tensor of
 * single bytes that fills the remainder.
 */
function headerOfSize(sizeBytes: number): Uint8Array {
  const rowBytes = computeSize({ name: '', shape: [rowLength], type: 'Q8_0' })
  const rowsOfBlock = Math.floor(blockTensorBytes / rowBytes)
  const metadata = {
    'general.architecture': 'llama',
    'general.name': 'synthetic random',
    'general.file_type': 7,
    'llama.context_length': 4096,
    'llama.embedding_length': rowLength,
  }
  const blocks = Math.floor(sizeBytes / (rowsOfBlock * rowBytes)) + 1
  const makeTensors = (rows: number, bytes: number): TensorInput[] => [
    ...rowsPerTensor(rows, rowsOfBlock, blocks).map((count, block) => ({
      name: `blk.${block}.ffn_up.weight`,
      shape: [rowLength, count],
      type: 'Q8_0',
    })),
    { name: 'filler', shape: [bytes], type: 'I8' },
  ]
  const dataBytes = sizeBytes - makeHeader(metadata, makeTensors(0, 0)).header.length
  if (dataBytes < 0) throw new RangeError(`a GGUF file cannot be as small as ${sizeBytes} bytes`)
  const rows = Math.floor(dataBytes / rowBytes)
  return makeHeader(metadata, makeTensors(rows, dataBytes - rows * rowBytes)).header
}

function rowsPerTensor(rows: number, most: number, tensors: number): number[] {
  return Array.from({ length: tensors }, (_, index) =>
    Math.max(0, Math.min(most, rows - index * most)),
  )
}

/** Returns a file's header, the places of its tensors, and the size of the complete file. */
export function makeHeader(metadata: Record<string, MetadataInput>, tensors: TensorInput[]) {
  const bytes = new GgufBytes()
  bytes.raw('GGUF').u32(3).u64(tensors.length).u64(Object.keys(metadata).length)
  for (const [key, value] of Object.entries(metadata)) bytes.string(key).value(value)
  let offset = 0
  const places = tensors.map((tensor) => {
    const place = { tensor, offset, sizeBytes: computeSize(tensor) }
    offset = aligned(offset + place.sizeBytes)
    return place
  })
  for (const place of places) {
    const { name, shape, type } = place.tensor
    bytes.string(name).u32(shape.length)
    for (const length of shape) bytes.u64(length)
    bytes.u32(findTensorTypeId(type) ?? -1).u64(place.offset)
  }
  const written = bytes.toBytes()
  const header = new Uint8Array(aligned(written.length))
  header.set(written)
  const last = places.at(-1)
  const sizeBytes = header.length + (last ? last.offset + last.sizeBytes : 0)
  return { header, places, sizeBytes }
}

function computeSize({ shape, type }: TensorInput): number {
  const tensorType = findTensorType(findTensorTypeId(type) ?? -1)
  if (tensorType === undefined) throw new RangeError(`no tensor type ${type}`)
  return (elementCount(shape) / tensorType.blockSize) * tensorType.bytesPerBlock
}

function aligned(offset: number): number {
  return Math.ceil(offset / alignment) * alignment
}

function countUp(data: Uint8Array): void {
  for (let index = 0; index < data.length; index += 1) data[index] = index
}
