import { crc32 } from 'node:zlib'

/** A number of downloads of one model, recorded by one process. */
export type JournalRecord = {
  /** A random UUID that identifies the process. */
  writer: string
  /** The number of the record among the writer's records, starting at 1. */
  sequence: number
  modelId: string
  count: number
}

/** Size of a record in bytes. A disk's sector size is a multiple of it, so no record spans two sectors. */
export const recordSize = 64
const magic = 0x73_68_64_6c // "shdl"
const at = { magic: 0, checksum: 4, writer: 8, sequence: 24, model: 32, count: 48 }

export function encodeRecord({ writer, sequence, modelId, count }: JournalRecord): Buffer {
  const bytes = Buffer.alloc(recordSize)
  bytes.writeUInt32BE(magic, at.magic)
  bytes.write(writer.replaceAll('-', ''), at.writer, 'hex')
  bytes.writeBigUInt64BE(BigInt(sequence), at.sequence)
  bytes.write(modelId.replaceAll('-', ''), at.model, 'hex')
  bytes.writeBigUInt64BE(BigInt(count), at.count)
  bytes.writeUInt32BE(crc32(bytes.subarray(at.writer)), at.checksum)
  return bytes
}

/** Returns undefined if the bytes do not contain a complete record. */
export function decodeRecord(bytes: Buffer): JournalRecord | undefined {
  if (bytes.length < recordSize || bytes.readUInt32BE(at.magic) !== magic) return undefined
  if (bytes.readUInt32BE(at.checksum) !== crc32(bytes.subarray(at.writer))) return undefined
  return {
    writer: formatUuid(bytes.subarray(at.writer, at.writer + 16)),
    sequence: Number(bytes.readBigUInt64BE(at.sequence)),
    modelId: formatUuid(bytes.subarray(at.model, at.model + 16)),
    count: Number(bytes.readBigUInt64BE(at.count)),
  }
}

function formatUuid(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
