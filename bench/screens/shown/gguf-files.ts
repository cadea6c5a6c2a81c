/**
 * Writes GGUF files with arbitrary metadata: sparse files that contain only zeros, and files with content that can be
 * uploaded.
 */
import { createCipheriv } from 'node:crypto'
import { open } from 'node:fs/promises'
import {
  type MetadataInput,
  makeHeader,
} from '../../../packages/model-file/src/testing/make-gguf.ts'

export type GgufPlan = {
  metadata: Record<string, MetadataInput>
  /** The number of weights of each type, such as `Q4_K`. */
  weights: Record<string, number>
}

/** Number of elements in a row: a multiple of every type's block size. */
const rowLength = 2048
const batchBytes = 4 * 1024 * 1024

/** Writes a sparse file with only zeros after the header. The file may be larger than the disk. */
export async function writeHollowGguf(path: string, plan: GgufPlan) {
  const { header, sizeBytes } = layOut(plan)
  await using file = await open(path, 'w')
  await file.writeFile(header)
  await file.truncate(sizeBytes)
  return path
}

/** Writes a file in which no two chunks are equal. */
export async function writeFullGguf(path: string, plan: GgufPlan) {
  const { header, sizeBytes } = layOut(plan)
  const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16, header), Buffer.alloc(16))
  await using file = await open(path, 'w')
  await file.writeFile(header)
  for (let left = sizeBytes - header.length; left > 0; left -= batchBytes) {
    await file.writeFile(cipher.update(Buffer.alloc(Math.min(left, batchBytes))))
  }
  return path
}

const layOut = ({ metadata, weights }: GgufPlan) =>
  makeHeader(
    metadata,
    Object.entries(weights).map(([type, count], place) => ({
      name: `blk.${place}.weight`,
      shape: [rowLength, Math.round(count / rowLength)],
      type,
    })),
  )
