/** Where the things that belong to one model file lie. */
import { basename, dirname, join } from 'node:path'

/** Beside a model file: hidden, so that other programs see only plain `*.gguf` files. */
export const shoalDirectory = '.shoal'

export function getFilePaths(path: string) {
  const hidden = join(dirname(path), shoalDirectory, basename(path))
  return {
    /** The unfinished file. */
    partial: `${path}.part`,
    record: `${hidden}.json`,
    journal: `${hidden}.journal`,
    lock: `${hidden}.lock`,
    torrent: `${hidden}.torrent`,
    /** How the registry said that an unfinished file can be had. */
    download: `${hidden}.download`,
  }
}
