import { invalidGguf } from './gguf-error.ts'
import type { HeaderReader } from './gguf-reader.ts'

/** The value types, in the order of their IDs in the GGUF specification. */
export const valueTypes = [
  'u8',
  'i8',
  'u16',
  'i16',
  'u32',
  'i32',
  'f32',
  'bool',
  'string',
  'array',
  'u64',
  'i64',
  'f64',
] as const
export type GgufValueType = (typeof valueTypes)[number]

export type GgufScalar = number | bigint | boolean | string

/**
 * An array in the header. `items` contains all items of a short array, and the first few items of a longer one. If the
 * array is nested or exceeds the memory budget, `items` is empty.
 */
export type GgufArray = { type: GgufValueType; length: number; items: GgufScalar[] }

/** A string that is too long to be kept in full. `start` is its beginning; `length` is in bytes. */
export type GgufLongString = { type: 'string'; length: number; start: string }

export type GgufValue = GgufScalar | GgufArray | GgufLongString

type FixedType = Exclude<GgufValueType, 'string' | 'array'>
const byteLengths: Record<FixedType, number> = {
  u8: 1,
  i8: 1,
  u16: 2,
  i16: 2,
  u32: 4,
  i32: 4,
  f32: 4,
  bool: 1,
  u64: 8,
  i64: 8,
  f64: 8,
}
const minimumBytes: Record<GgufValueType, number> = { ...byteLengths, string: 8, array: 12 }

/**
 * Limits on the metadata that is kept. Arrays with up to `textItems` strings or `numberItems` numbers are kept in full.
 */
export type KeptLimits = { bytes: number; textItems: number; numberItems: number }

/** Keeps per-layer numbers and tags in full, but only the first eight items of a vocabulary. */
export const usualLimits: KeptLimits = { bytes: 2 * 1024 * 1024, textItems: 64, numberItems: 512 }

/** Also keeps vocabularies in full. Only for trusted files. */
export const wholeArrays: KeptLimits = {
  bytes: 512 * 1024 * 1024,
  textItems: Number.POSITIVE_INFINITY,
  numberItems: Number.POSITIVE_INFINITY,
}

const maxKeptStringBytes = 1024 * 1024
const startBytes = 1024
const maxItemBytes = 256
const maxDepth = 4

/**
 * The remaining memory budget for metadata. If a string exceeds the budget, only its beginning is kept. If an array
 * exceeds it, only its type and length are kept.
 */
export class KeptBytes {
  readonly limits: KeptLimits
  #left: number

  constructor(limits: KeptLimits) {
    this.limits = limits
    this.#left = limits.bytes
  }

  take(bytes: number): boolean {
    if (bytes > this.#left) return false
    this.#left -= bytes
    return true
  }
}

async function readValueType(reader: HeaderReader, key: string): Promise<GgufValueType> {
  const id = await reader.u32()
  const type = valueTypes[id]
  if (type === undefined) throw invalidGguf(`"${key}" has unknown value type ${id}`)
  return type
}

export async function readValue(
  reader: HeaderReader,
  key: string,
  kept: KeptBytes,
): Promise<{ type: GgufValueType; value: GgufValue }> {
  const type = await readValueType(reader, key)
  if (type === 'array') return { type, value: await readArray(reader, key, kept) }
  if (type === 'string') return { type, value: await readText(reader, key, kept) }
  return { type, value: await readFixed(reader, type) }
}

async function readText(
  reader: HeaderReader,
  key: string,
  kept: KeptBytes,
): Promise<string | GgufLongString> {
  const length = await reader.count(`the length of "${key}"`, 1)
  if (length <= maxKeptStringBytes && kept.take(length)) return reader.string(length)
  return { type: 'string', length, start: await readStart(reader, length, startBytes) }
}

/** Reads the beginning of a string of `length` bytes, and skips the rest. */
async function readStart(reader: HeaderReader, length: number, most: number): Promise<string> {
  const start = await reader.string(Math.min(length, most))
  reader.skip(Math.max(0, length - most))
  return start
}

async function readFixed(reader: HeaderReader, type: FixedType): Promise<GgufScalar> {
  const view = await reader.view(byteLengths[type])
  switch (type) {
    case 'u8':
      return view.getUint8(0)
    case 'i8':
      return view.getInt8(0)
    case 'u16':
      return view.getUint16(0, true)
    case 'i16':
      return view.getInt16(0, true)
    case 'u32':
      return view.getUint32(0, true)
    case 'i32':
      return view.getInt32(0, true)
    case 'f32':
      return shortestFloat32(view.getFloat32(0, true))
    case 'bool':
      return view.getUint8(0) !== 0
    case 'u64':
      return numberIfSafe(view.getBigUint64(0, true))
    case 'i64':
      return numberIfSafe(view.getBigInt64(0, true))
    case 'f64':
      return view.getFloat64(0, true)
  }
}

function numberIfSafe(value: bigint): number | bigint {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

/**
 * Returns the shortest decimal number that has the same 32-bit float value, such as 1e-5 instead of
 * 0.000009999999747378752.
 */
function shortestFloat32(value: number): number {
  for (let digits = 6; digits < 9; digits += 1) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === value) return short
  }
  return value
}

async function readArray(reader: HeaderReader, key: string, kept: KeptBytes): Promise<GgufArray> {
  const { type, length } = await readArrayHead(reader, key)
  const items: GgufScalar[] = []
  if (type !== 'array') {
    for (let left = keptItems(type, length, kept); left > 0; left -= 1) {
      items.push(type === 'string' ? await readItem(reader, key) : await readFixed(reader, type))
    }
  }
  await skipItems(reader, key, { type, count: length - items.length, depth: 1, kept })
  return { type, length, items }
}

function keptItems(type: FixedType | 'string', length: number, kept: KeptBytes): number {
  const few = type === 'string' ? kept.limits.textItems : kept.limits.numberItems
  const count = length <= few ? length : 8
  return kept.take(count * (type === 'string' ? maxItemBytes : 8)) ? count : 0
}

async function readItem(reader: HeaderReader, key: string): Promise<string> {
  return readStart(
    reader,
    await reader.count(`the length of a string in "${key}"`, 1),
    maxItemBytes,
  )
}

async function readArrayHead(reader: HeaderReader, key: string) {
  const type = await readValueType(reader, key)
  const length = await reader.count(`the number of elements of "${key}"`, minimumBytes[type])
  return { type, length }
}

type Items = { type: GgufValueType; count: number; depth: number; kept: KeptBytes }

async function skipItems(
  reader: HeaderReader,
  key: string,
  { type, count, depth, kept }: Items,
): Promise<void> {
  if (type === 'string') return reader.skipStrings(count)
  if (type !== 'array') return reader.skip(count * byteLengths[type])
  if (depth === maxDepth)
    throw invalidGguf(`"${key}" nests arrays more than ${maxDepth} levels deep`)
  // Inner arrays are not kept, but their number is limited, because skipping millions of them would take seconds.
  if (!kept.take(count * minimumBytes.array))
    throw invalidGguf(`"${key}" has too many inner arrays`)
  for (let left = count; left > 0; left -= 1) {
    const inner = await readArrayHead(reader, key)
    await skipItems(reader, key, { type: inner.type, count: inner.length, depth: depth + 1, kept })
  }
}
