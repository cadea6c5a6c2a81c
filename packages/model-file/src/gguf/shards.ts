/**
 * Split models. llama.cpp names the parts `m-00001-of-00005.gguf` and so on, and loads the other parts from the folder
 * of the first part.
 */

const extension = /\.gguf$/i
const shardSuffix = /-(\d{5})-of-(\d{5})$/i

/** The position of a file in a split model, counted from 1: `{ index: 2, count: 5 }` for `m-00002-of-00005.gguf`. */
export type Shard = { index: number; count: number }

export const withoutExtension = (filename: string): string => filename.replace(extension, '')

/** Returns the filename without its extension and part number. */
export const getStem = ({ filename }: { filename: string }): string =>
  withoutExtension(filename).replace(shardSuffix, '')

/** Returns the part numbers in a filename without validating them, or undefined for a file that is not split. */
export function parseShardNumbers(filename: string): Shard | undefined {
  const [, index, count] = (shardSuffix.exec(withoutExtension(filename)) ?? []).map(Number)
  return index === undefined || count === undefined ? undefined : { index, count }
}

/**
 * Returns the position of a file in a split model, according to its filename, or undefined if the part numbers are
 * invalid or missing.
 */
export function findShardInFilename(filename: string): Shard | undefined {
  const shard = /\.gguf$/i.test(filename) ? parseShardNumbers(filename) : undefined
  if (!shard) return undefined
  const { index, count } = shard
  return count > 1 && index >= 1 && index <= count ? shard : undefined
}

/** Returns the filename of part `index` of the split file to which `filename` belongs. */
export const getShardFilename = (filename: string, index: number): string =>
  filename.replace(/-\d{5}(-of-\d{5}\.gguf)$/i, `-${String(index).padStart(5, '0')}$1`)

/**
 * Returns a key that is the same for all parts of a split file. Files with the same stem but different part counts do
 * not belong together.
 */
export const getShardSet = (file: { filename: string }): string =>
  `${getStem(file)} ${parseShardNumbers(file.filename)?.count ?? 1}`
