/**
 * Writes files and folders so that none is left partly written, even if the process is killed or the power fails. Reads
 * files that may be anything.
 */
export { errnoOf, ignoreMissing, isErrno, reasonOfErrno } from './errno.ts'
export { exists } from './exists.ts'
export { makeFolder } from './make-folder.ts'
export { openFile, readSmallFile } from './open-file.ts'
export { syncFile, syncFolder, syncTree } from './sync.ts'
export { removeUnfinished, replaceFile, unfinishedPath, writeWhole } from './write-whole.ts'
