/** Writes files and folders such that neither a killed process nor a power failure leaves half of one. */
export { exists } from './exists.ts'
export { makeFolder } from './make-folder.ts'
export { syncFile, syncFolder, syncTree } from './sync.ts'
export { removeUnfinished, replaceFile, unfinishedPath, writeWhole } from './write-whole.ts'
