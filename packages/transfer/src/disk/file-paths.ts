/** The paths of all files that belong to one model file. */
import { createHash } from 'node:crypto'
import { basename, dirname, join } from 'node:path'

/**
 * The folder beside a model file that contains shoal's own files. It is hidden, so that other programs see only plain
 * `*.gguf` files.
 */
export const shoalDirectory = '.shoal'

/** Every system allows filenames of 255 bytes, and the longest ending, `.torrent.<uuid>.new`, has 49 bytes. */
const maxHiddenBytes = 255 - 49

/**
 * The beginning of the names of a model file's hidden files: the model file's name, or a hash of the name if it is too
 * long.
 */
export const hiddenStem = (filename: string): string =>
  Buffer.byteLength(filename) <= maxHiddenBytes
    ? filename
    : createHash('sha256').update(filename).digest('hex')

/** The port and the peer ID with which a folder of models is shared. */
export const getContactPath = (modelsDirectory: string): string =>
  join(modelsDirectory, shoalDirectory, 'contact')

export function getFilePaths(path: string) {
  const hidden = join(dirname(path), shoalDirectory, hiddenStem(basename(path)))
  return {
    /** The partial file. */
    partial: `${path}.part`,
    record: `${hidden}.json`,
    journal: `${hidden}.journal`,
    lock: `${hidden}.lock`,
    torrent: `${hidden}.torrent`,
    /** Where an imported file came from. */
    imported: `${hidden}.import`,
    /** An unfinished copy of a file that other programs use too. */
    copy: `${hidden}.copy`,
    /** The registry's response to the download request for a partial file. */
    download: `${hidden}.download`,
    /** The port and the peer ID of a pull. */
    contact: `${hidden}.contact`,
  }
}
