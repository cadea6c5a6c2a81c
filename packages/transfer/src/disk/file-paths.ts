/** The paths of all files that belong to one model file. */
import { basename, dirname, join } from 'node:path'

/** The folder beside a model file, hidden so that other programs see only plain `*.gguf` files. */
export const shoalDirectory = '.shoal'

export function getFilePaths(path: string) {
  const hidden = join(dirname(path), shoalDirectory, basename(path))
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
  }
}
