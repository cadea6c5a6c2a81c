import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const demoModel = join(import.meta.dirname, '../../../../models/shoal-nano/shoal-nano-Q8_0.gguf')
/** The length of a GGUF file's magic, version and counts, after which the metadata begins. */
const countsEnd = 24
const stringType = 8

/**
 * Writes a copy of the demo model with an additional metadata entry, which is a string. The string is padded, because
 * tensors must start at multiples of 32 bytes.
 */
export function writeModelWith(path: string, key: string, text: string) {
  const model = readFileSync(demoModel)
  model.writeBigUInt64LE(model.readBigUInt64LE(16) + 1n, 16)
  const length = (value: string) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64LE(BigInt(Buffer.byteLength(value)))
    return bytes
  }
  const type = Buffer.from([stringType, 0, 0, 0])
  const otherBytes = 8 + key.length + 4 + 8
  const padded = text.padEnd(Math.ceil((text.length + otherBytes) / 32) * 32 - otherBytes)
  const entry = [length(key), Buffer.from(key), type, length(padded), Buffer.from(padded)]
  const [counts, rest] = [model.subarray(0, countsEnd), model.subarray(countsEnd)]
  writeFileSync(path, Buffer.concat([counts, ...entry, rest]))
}
