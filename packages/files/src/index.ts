/** Writes files and folders so that none is left partly written, even if the process is killed or the power fails. */
export { ignoreMissing, isErrno } from './errno.ts'
export { exists } from './exists.ts'
export { makeFolder } from './make-folder.ts'
export { syncFile, syncFolder, syncTree } from './sync.ts'
export { removeUnfinished, replaceFile, unfinishedPath, writeWhole } from './write-whole.ts'
