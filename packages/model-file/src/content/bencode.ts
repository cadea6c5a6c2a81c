/** Bencode (BEP 3), the encoding of torrent files, tracker responses and extension messages between peers. */
import { AppError } from '@shoal/core/errors'

/** A decoded value. Strings are decoded to bytes. */
export type Bencoded = number | Buffer | Bencoded[] | Map<string, Bencoded>

/** Maximum nesting depth. Nothing that shoal needs to decode is nested more deeply. */
const maxDepth = 4

/**
 * Decodes the bencoded value (BEP 3) at the start of `bytes` and ignores the rest. Safe for untrusted input: the length
 * of a string must consist of digits, and the string must end within `bytes`, so decoding always makes progress. Throws
 * `invalid_bencode`.
 */
export function decodeBencode(bytes: Buffer): Bencoded {
  let position = 0
  return value(maxDepth)

  function value(depthLeft: number): Bencoded {
    const type = String.fromCharCode(bytes[position] ?? 0)
    if (type === 'i') {
      position += 1
      return number('e')
    }
    if (type !== 'l' && type !== 'd') return text()
    if (depthLeft === 0) throw invalid('the bencoded data is nested too deeply')
    position += 1
    return type === 'l' ? list(depthLeft - 1) : dictionary(depthLeft - 1)
  }

  function list(depthLeft: number): Bencoded[] {
    const items: Bencoded[] = []
    while (!isEnd()) items.push(value(depthLeft))
    return items
  }

  function dictionary(depthLeft: number): Map<string, Bencoded> {
    const entries = new Map<string, Bencoded>()
    while (!isEnd()) entries.set(text().toString('latin1'), value(depthLeft))
    return entries
  }

  function isEnd(): boolean {
    if (bytes[position] !== 'e'.charCodeAt(0)) return false
    position += 1
    return true
  }

  function text(): Buffer {
    const length = number(':')
    const end = position + length
    if (length < 0 || end > bytes.length) {
      throw invalid(`a bencoded string has an invalid length: ${length}`)
    }
    const found = bytes.subarray(position, end)
    position = end
    return found
  }

  function number(delimiter: string): number {
    const end = bytes.indexOf(delimiter, position)
    const digits = bytes.toString('latin1', position, Math.max(position, end))
    if (!/^-?\d{1,15}$/.test(digits))
      throw invalid('a number in the bencoded data is missing or invalid')
    position = end + 1
    return Number(digits)
  }
}

/** A value to encode. Each character of a string is encoded as one byte, so pass non-ASCII text as UTF-8 bytes. */
export type Bencodable =
  | number
  | string
  | Uint8Array
  | readonly Bencodable[]
  | { readonly [key: string]: Bencodable | undefined }

/**
 * Encodes a value. Sorts the keys of dictionaries and omits undefined values. The package `bencode` is not used for two
 * reasons. It takes three times as long, and this code is on the tracker's hot path. It also treats the keys of
 * dictionaries as text, but the keys in a scrape response are binary info hashes.
 */
export function encodeBencode(value: Bencodable): Buffer {
  return Buffer.from(encodedText(value), 'latin1')
}

function encodedText(value: Bencodable): string {
  if (typeof value === 'number') return `i${value}e`
  if (typeof value === 'string') return `${value.length}:${value}`
  if (value instanceof Uint8Array) return encodedText(Buffer.from(value).toString('latin1'))
  if (isList(value)) return `l${value.map(encodedText).join('')}e`
  const keys = Object.keys(value).sort() // in byte order, because each code unit is one byte
  return `d${keys.map((key) => encodedEntry(key, value[key])).join('')}e`
}

function encodedEntry(key: string, value: Bencodable | undefined): string {
  return value === undefined ? '' : encodedText(key) + encodedText(value)
}

const isList = (value: Bencodable): value is readonly Bencodable[] => Array.isArray(value)

const invalid = (message: string) => new AppError('invalid_bencode', message, {})
