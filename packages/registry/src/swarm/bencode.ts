/** Strings are bytes, each as one character, so that info hashes and packed addresses are what they are. */
export type Bencoded = number | string | readonly Bencoded[] | { readonly [key: string]: Bencoded }

/**
 * Bencoded bytes (BEP 3). The package `bencode` takes three times as long, and the keys of a dictionary for text, which those of a
 * scrape are not.
 */
export function bencode(value: Bencoded): Buffer {
  return Buffer.from(textOf(value), 'latin1')
}

function textOf(value: Bencoded): string {
  if (typeof value === 'number') return `i${value}e`
  if (typeof value === 'string') return `${value.length}:${value}`
  if (isList(value)) return `l${value.map(textOf).join('')}e`
  const keys = Object.keys(value).sort() // by code unit, which is by byte here
  return `d${keys.map((key) => textOf(key) + textOf(value[key] ?? '')).join('')}e`
}

const isList = (value: Bencoded): value is readonly Bencoded[] => Array.isArray(value)
