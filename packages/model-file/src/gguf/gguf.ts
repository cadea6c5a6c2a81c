import { invalidGguf } from './gguf-error.ts'
import { HeaderReader, type ReadBytes } from './gguf-reader.ts'
import {
  checkTensorPlaces,
  type GgufTensor,
  minimumTensorBytes,
  readTensors,
} from './gguf-tensors.ts'
import {
  type GgufValue,
  KeptBytes,
  type KeptLimits,
  readValue,
  usualLimits,
} from './gguf-values.ts'

export type GgufHeader = {
  version: number
  alignment: number
  metadata: Map<string, GgufValue>
  tensors: GgufTensor[]
  /** The start of the tensor data, in bytes from the start of the file. */
  dataOffset: number
}

const maxKeyBytes = 65_535
/** Real headers have fewer than a hundred entries. */
const maxMetadataCount = 16_384
/** Old files with one tensor per expert have about 50,000 tensors. */
const maxTensorCount = 65_536
/** Minimum size of a metadata entry: the length of the key, the type of the value, and a value of one byte. */
const minimumEntryBytes = 8 + 4 + 1
const defaultAlignment = 32

/**
 * Reads and validates the header of a GGUF file (little-endian, version 2 or 3). Safe for untrusted files: memory use
 * is limited to a window of 1 MiB, the metadata that `limits` allows (2 MiB by default), and the tensor list. Throws
 * `invalid_gguf` for a header longer than 256 MiB and for any invalid content, including tensors beyond the end of the
 * file. Specification: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
 */
export async function parseGguf(
  read: ReadBytes,
  fileSizeBytes: number,
  limits: KeptLimits = usualLimits,
): Promise<GgufHeader> {
  const reader = new HeaderReader(read, fileSizeBytes)
  const version = await readVersion(reader)
  const tensorCount = await reader.count('the number of tensors', minimumTensorBytes)
  const metadataCount = await reader.count('the number of metadata entries', minimumEntryBytes)
  refuseMoreThan(maxTensorCount, tensorCount, 'tensors')
  refuseMoreThan(maxMetadataCount, metadataCount, 'metadata entries')

  const { metadata, alignment } = await readMetadata(reader, metadataCount, limits)
  const tensors = await readTensors(reader, tensorCount)
  const dataOffset = Math.ceil(reader.position / alignment) * alignment
  checkTensorPlaces({ tensors, alignment, dataOffset }, fileSizeBytes)
  return { version, alignment, metadata, tensors, dataOffset }
}

async function readVersion(reader: HeaderReader): Promise<number> {
  const magic = await reader.string(4)
  if (magic !== 'GGUF') throw invalidGguf('not a GGUF file: it does not start with "GGUF"')
  const version = await reader.u32()
  // In a big-endian file, the bytes of the version are reversed.
  if (version !== 0 && version % 65_536 === 0) {
    throw invalidGguf('big-endian GGUF files are not supported')
  }
  if (version !== 2 && version !== 3) {
    throw invalidGguf(`GGUF version ${version} is not supported; only versions 2 and 3 are`)
  }
  return version
}

function refuseMoreThan(most: number, count: number, what: string): void {
  if (count > most) throw invalidGguf(`the header has ${count} ${what}; the maximum is ${most}`)
}

async function readMetadata(reader: HeaderReader, count: number, limits: KeptLimits) {
  const metadata = new Map<string, GgufValue>()
  const kept = new KeptBytes(limits)
  let alignment = defaultAlignment
  for (let index = 0; index < count; index += 1) {
    const key = await readKey(reader, index, kept)
    if (metadata.has(key)) throw invalidGguf(`the metadata contains "${key}" twice`)
    const { type, value } = await readValue(reader, key, kept)
    metadata.set(key, value)
    if (key === 'general.alignment') {
      if (type !== 'u32') throw invalidGguf(`general.alignment has the type ${type}, not u32`)
      alignment = checkedAlignment(Number(value))
    }
  }
  return { metadata, alignment }
}

async function readKey(reader: HeaderReader, index: number, kept: KeptBytes): Promise<string> {
  const length = await reader.count(`the length of key ${index}`, 1)
  if (length > maxKeyBytes) {
    throw invalidGguf(`key ${index} has ${length} bytes; the maximum is ${maxKeyBytes}`)
  }
  if (length === 0) throw invalidGguf(`key ${index} is empty`)
  if (!kept.take(length)) throw invalidGguf('the metadata is too large')
  return reader.string(length)
}

function checkedAlignment(alignment: number): number {
  const isPowerOfTwo = alignment > 0 && Number.isInteger(Math.log2(alignment))
  if (!isPowerOfTwo) throw invalidGguf(`the alignment is ${alignment}, not a power of two`)
  return alignment
}
