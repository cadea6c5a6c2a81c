/**
 * Writes GGUF files with arbitrary metadata: sparse files that contain only zeros, and files with content that can be
 * uploaded.
 */
import { createCipheriv } from 'node:crypto'
import { open } from 'node:fs/promises'
import {
  findTensorType,
  findTensorTypeId,
} from '../../../packages/model-file/src/gguf/gguf-types.ts'
import {
  GgufBytes,
  type MetadataInput,
} from '../../../packages/model-file/src/testing/gguf-bytes.ts'

export type GgufPlan = {
  metadata: Record<string, MetadataInput>
  /** The number of weights of each type, such as `Q4_K`. */
  weights: Record<string, number>
}

/** Number of elements in a row: a multiple of every type's block size. */
const rowLength = 2048
const alignment = 32
const batchBytes = 4 * 1024 * 1024

/** Writes a sparse file with only zeros after the header. The file may be larger than the disk. */
export async function writeHollowGguf(path: string, plan: GgufPlan): Promise<string> {
  const { header, sizeBytes } = layOut(plan)
  await using file = await open(path, 'w')
  await file.writeFile(header)
  await file.truncate(sizeBytes)
  return path
}

/** Writes a file in which no two chunks are equal. */
export async function writeFullGguf(path: string, plan: GgufPlan): Promise<string> {
  const { header, sizeBytes } = layOut(plan)
  const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16, header), Buffer.alloc(16))
  await using file = await open(path, 'w')
  await file.writeFile(header)
  for (let left = sizeBytes - header.length; left > 0; left -= batchBytes) {
    await file.writeFile(cipher.update(Buffer.alloc(Math.min(left, batchBytes))))
  }
  return path
}

function layOut({ metadata, weights }: GgufPlan) {
  const types = Object.entries(weights)
  const bytes = new GgufBytes()
  bytes.raw('GGUF').u32(3).u64(types.length).u64(Object.keys(metadata).length)
  for (const [key, value] of Object.entries(metadata)) bytes.string(key).value(value)
  let dataBytes = 0
  for (const [place, [type, count]] of types.entries()) {
    const rows = Math.round(count / rowLength)
    bytes.string(`blk.${place}.weight`).u32(2).u64(rowLength).u64(rows)
    bytes.u32(findTensorTypeId(type) ?? -1).u64(dataBytes)
    dataBytes = aligned(dataBytes + computeBytes(type, rows))
  }
  const written = bytes.toBytes()
  const header = Buffer.alloc(aligned(written.length), 0)
  header.set(written)
  return { header, sizeBytes: header.length + dataBytes }
}

function computeBytes(type: string, rows: number): number {
  const tensorType = findTensorType(findTensorTypeId(type) ?? -1)
  if (!tensorType) throw new RangeError(`unknown tensor type ${type}`)
  return ((rows * rowLength) / tensorType.blockSize) * tensorType.bytesPerBlock
}

const aligned = (offset: number) => Math.ceil(offset / alignment) * alignment
