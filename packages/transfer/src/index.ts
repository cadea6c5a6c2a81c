/**
 * Transfers model files: pulls and pushes them in chunks, resumes interrupted transfers, verifies, repairs and shares
 * pulled files, and imports the files of other programs. Does not depend on a terminal.
 */

export type { ImportMethod } from './disk/import-record.ts'
export {
  type LocalFile,
  listLocalFiles,
  localModelName,
  type Unreadable,
} from './disk/list-local-files.ts'
export { claimFolder, findFolder } from './disk/model-folder.ts'
export { getPresetPath, type Preset, readPreset, writePreset } from './disk/preset.ts'
export { type LocalFileRecord, readRecord } from './disk/record.ts'
export { type FindSame, sameFilesIn } from './disk/reuse-file.ts'
export type { PullEvent, PushEvent, SourceShare } from './events.ts'
export { checkImport } from './import/check-import.ts'
export { findAtPath, storeFolders, storeReaders } from './import/find-folder.ts'
export { listModelFiles, type ModelFolders } from './import/follow-folders.ts'
export type { FoundFile, Skipped, StoreName } from './import/found-file.ts'
export { type HashedFile, hashFoundFile } from './import/hash-found-file.ts'
export { type ImportedFile, type ImportOptions, importFile } from './import/import-file.ts'
export type { Limit } from './limit.ts'
export { copyLocalFile } from './local/copy-local-file.ts'
export type { Removal } from './local/plan-removal.ts'
export { previewRemoval, removeLocalFiles } from './local/remove-local-files.ts'
export { type RepairedFile, type RepairOptions, repairFile } from './local/repair-file.ts'
export { type VerifyOptions, type VerifyResult, verifyFile } from './local/verify-file.ts'
export { type PulledFile, pullFile } from './pull/pull-file.ts'
export type { PullOptions } from './pull/pull-options.ts'
export { type PushOptions, pushFile } from './push/node/push-file.ts'
export { type PushFilesOptions, pushFiles } from './push/node/push-files.ts'
export type { SeedStatus } from './seed/seed-messages.ts'
export { type Sharing, type SharingOptions, sharedName, shareFolder } from './seed/share-folder.ts'
