/** Bencode (BEP 3): what torrents, trackers and peers speak. */
import { AppError } from '@shoal/core/errors'

/** What is read: strings are bytes. */
export type Bencoded = number | Buffer | Bencoded[] | Map<string, Bencoded>

/** Nothing that a peer has to tell lies deeper. */
const maxDepth = 4

/**
 * The bencoded value (BEP 3) that `bytes` begin with; what follows is not looked at. It reads what strangers send: a length
 * counts digits alone and ends within the bytes, so that reading always goes forward. Throws `invalid_bencode`.
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
    if (depthLeft === 0) throw invalid('bencoded lists in lists')
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
      throw invalid(`a bencoded string of ${length} bytes`)
    }
    const found = bytes.subarray(position, end)
    position = end
    return found
  }

  function number(delimiter: string): number {
    const end = bytes.indexOf(delimiter, position)
    const digits = bytes.toString('latin1', position, Math.max(position, end))
    if (!/^-?\d{1,15}$/.test(digits)) throw invalid('bencoded text without its number')
    position = end + 1
    return Number(digits)
  }
}

/** What is written: each character of a string is one byte, so text beyond ASCII is given as the bytes of its UTF-8. */
export type Bencodable =
  | number
  | string
  | Uint8Array
  | readonly Bencodable[]
  | { readonly [key: string]: Bencodable | undefined }

/**
 * Keys of a dictionary are sorted, and those without a value left out. A tracker answers with it all day: the package `bencode`
 * takes three times as long, and takes the keys of a dictionary for text, which the info hashes of a scrape are not.
 */
export function encodeBencode(value: Bencodable): Buffer {
  return Buffer.from(encodedText(value), 'latin1')
}

function encodedText(value: Bencodable): string {
  if (typeof value === 'number') return `i${value}e`
  if (typeof value === 'string') return `${value.length}:${value}`
  if (value instanceof Uint8Array) return encodedText(Buffer.from(value).toString('latin1'))
  if (isList(value)) return `l${value.map(encodedText).join('')}e`
  const keys = Object.keys(value).sort() // by code unit, which is by byte here
  return `d${keys.map((key) => encodedEntry(key, value[key])).join('')}e`
}

function encodedEntry(key: string, value: Bencodable | undefined): string {
  return value === undefined ? '' : encodedText(key) + encodedText(value)
}

const isList = (value: Bencodable): value is readonly Bencodable[] => Array.isArray(value)

const invalid = (message: string) => new AppError('invalid_bencode', message, {})
