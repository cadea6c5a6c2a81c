/** Split models: llama.cpp calls the parts `m-00001-of-00005.gguf` and so on, and opens the others beside the first. */

const extension = /\.gguf$/i
const shardSuffix = /-(\d{5})-of-(\d{5})$/i

/** The place of a file in a split model, the first being 1: `{ index: 2, count: 5 }` of `m-00002-of-00005.gguf`. */
export type Shard = { index: number; count: number }

export const withoutExtension = (filename: string): string => filename.replace(extension, '')

/** The filename without what says which part of a file, or of a set of files, it is. */
export const getStem = ({ filename }: { filename: string }): string =>
  withoutExtension(filename).replace(shardSuffix, '')

/** The numbers in a filename, whatever they are; undefined for a file that is not split. */
export function parseShardNumbers(filename: string): Shard | undefined {
  const [, index, count] = (shardSuffix.exec(withoutExtension(filename)) ?? []).map(Number)
  return index === undefined || count === undefined ? undefined : { index, count }
}

/** The same, if there can be such a part. */
export function findShardInFilename(filename: string): Shard | undefined {
  const shard = /\.gguf$/i.test(filename) ? parseShardNumbers(filename) : undefined
  if (!shard) return undefined
  const { index, count } = shard
  return count > 1 && index >= 1 && index <= count ? shard : undefined
}

/** What the parts of one split file have in common. One name split into another number of parts is another file. */
export const getShardSet = (file: { filename: string }): string =>
  `${getStem(file)} ${parseShardNumbers(file.filename)?.count ?? 1}`
