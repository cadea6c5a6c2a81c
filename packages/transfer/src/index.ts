/** How a model file's bytes move: pull and push by chunks, resume, verify, repair. It knows no terminal. */
export {
  BytesRefusedError,
  DamagedFileError,
  FileBusyError,
  FileChangedError,
  FileInTheWayError,
  LinkError,
  NoRecordError,
  NoRoomError,
  RefusedFileError,
  VerificationError,
} from './errors.ts'
export type { PullEvent, PushEvent, SourceShare } from './events.ts'
export { copyLocalFile } from './local/copy-local-file.ts'
export { type LocalFile, listLocalFiles, type Unreadable } from './local/list-local-files.ts'
export type { Removal } from './local/plan-removal.ts'
export { type FileRecord, readRecord } from './local/record.ts'
export { previewRemoval, removeLocalFiles } from './local/remove-local-files.ts'
export { type RepairedFile, type RepairOptions, repairFile } from './local/repair-file.ts'
export { type VerifyOptions, type VerifyResult, verifyFile } from './local/verify-file.ts'
export { type PulledFile, pullFile } from './pull/pull-file.ts'
export type { PullOptions } from './pull/pull-options.ts'
export { type PushOptions, pushFile } from './push/node/push-file.ts'
export type { SeedStanding } from './seed/seed-messages.ts'
export { type Sharing, type SharingOptions, sharedName, shareFolder } from './seed/share-folder.ts'
