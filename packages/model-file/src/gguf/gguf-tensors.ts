import { invalidGguf } from './gguf-error.ts'
import type { HeaderReader } from './gguf-reader.ts'
import { findTensorType } from './gguf-types.ts'

export type GgufTensor = {
  name: string
  /** Innermost dimension first, as in GGUF. */
  shape: number[]
  /** The tensor type, such as `Q4_K`. */
  type: string
  /** The offset from the start of the tensor data (`dataOffset`), in bytes. */
  offset: number
  sizeBytes: number
}

/** The limit in ggml. */
const maxDimensions = 4
/** The specification allows 64 bytes, but tensors in image models have longer names. */
const maxNameBytes = 256
/** Minimum size of a tensor description: the length of the name, the number of dimensions, the type and the offset. */
export const minimumTensorBytes = 8 + 4 + 4 + 8

/** Reads `count` tensor descriptions. The caller must check the positions of the tensors with `checkTensorPlaces`. */
export async function readTensors(reader: HeaderReader, count: number): Promise<GgufTensor[]> {
  const tensors: GgufTensor[] = []
  const names = new Set<string>()
  for (let index = 0; index < count; index += 1) {
    const tensor = await readTensor(reader, index)
    if (names.has(tensor.name)) throw invalidGguf(`two tensors are named "${tensor.name}"`)
    names.add(tensor.name)
    tensors.push(tensor)
  }
  return tensors
}

async function readTensor(reader: HeaderReader, index: number): Promise<GgufTensor> {
  const nameBytes = await reader.u64()
  if (nameBytes > maxNameBytes) {
    throw invalidGguf(
      `the name of tensor ${index} has ${nameBytes} bytes; the maximum is ${maxNameBytes}`,
    )
  }
  const name = await reader.string(Number(nameBytes))
  const subject = `tensor ${index} "${name}"`

  const dimensions = await reader.u32()
  if (dimensions > maxDimensions) {
    throw invalidGguf(`${subject} has ${dimensions} dimensions; the maximum is ${maxDimensions}`)
  }
  const shape: number[] = []
  for (let left = dimensions; left > 0; left -= 1) {
    shape.push(safe(await reader.u64(), `a dimension of ${subject}`))
  }
  const { type, sizeBytes } = computeSize(await reader.u32(), shape, subject)
  const offset = safe(await reader.u64(), `the offset of ${subject}`)
  return { name, shape, type, offset, sizeBytes }
}

function computeSize(typeId: number, shape: number[], subject: string) {
  const type = findTensorType(typeId)
  if (type === undefined) throw invalidGguf(`${subject} has unknown type ${typeId}`)
  const rowLength = shape[0] ?? 1
  if (rowLength % type.blockSize !== 0) {
    throw invalidGguf(
      `${subject} has the row length ${rowLength}, which is not a multiple of ${type.blockSize}, the block size of ${type.name}`,
    )
  }
  const elements = safe(elementCount(shape), `the number of elements of ${subject}`)
  const sizeBytes = safe((elements / type.blockSize) * type.bytesPerBlock, `the size of ${subject}`)
  return { type: type.name, sizeBytes }
}

export function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, length) => product * length, 1)
}

function safe(value: number | bigint, what: string): number {
  if (!Number.isSafeInteger(value)) throw invalidGguf(`${what} is too large: ${value}`)
  return Number(value)
}

type Layout = { tensors: readonly GgufTensor[]; alignment: number; dataOffset: number }

/**
 * Checks that every tensor starts at a multiple of the alignment, ends inside the file and does not overlap another.
 */
export function checkTensorPlaces(
  { tensors, alignment, dataOffset }: Layout,
  fileSizeBytes: number,
): void {
  for (const [index, { name, offset, sizeBytes }] of tensors.entries()) {
    const subject = `tensor ${index} "${name}"`
    if (offset % alignment !== 0) {
      throw invalidGguf(
        `${subject} starts at ${offset}, which is not a multiple of the alignment (${alignment})`,
      )
    }
    const end = dataOffset + offset + sizeBytes
    if (end > fileSizeBytes) {
      throw invalidGguf(
        `the file is truncated: ${subject} ends at byte ${end}, beyond the end of the file (${fileSizeBytes})`,
      )
    }
  }
  const inOrder = tensors
    .filter(({ sizeBytes }) => sizeBytes > 0)
    .sort((a, b) => a.offset - b.offset)
  for (const [index, tensor] of inOrder.entries()) {
    const previous = inOrder[index - 1]
    if (previous && previous.offset + previous.sizeBytes > tensor.offset) {
      throw invalidGguf(`tensors "${previous.name}" and "${tensor.name}" overlap`)
    }
  }
}
