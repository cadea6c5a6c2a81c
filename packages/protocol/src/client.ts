/**
 * The typed client for a registry, in browsers and Node. It sends requests with `fetch`, or with a transport supplied
 * by the caller. `registryClient` has all calls. Programs that load only some calls, such as the pages, open a
 * connection and pass it to functions such as `modelCalls`.
 */
export type {
  ApiKey,
  CreatedApiKey,
  Login,
  Registration,
  Session,
  SignedIn,
  User,
} from './account.ts'
export { accountCalls } from './client/account-calls.ts'
export { adminCalls } from './client/admin-calls.ts'
export { ApiError, problemIn, toApiError } from './client/api-error.ts'
export { type ClientOptions, type Connection, openConnection } from './client/connection.ts'
export { credentialCalls } from './client/credential-calls.ts'
export { downloadCalls } from './client/download-calls.ts'
export { editCalls } from './client/edit-calls.ts'
export { fileCalls } from './client/file-calls.ts'
export { memberCalls } from './client/member-calls.ts'
export { type ModelFilter, type ModelPage, modelCalls } from './client/model-calls.ts'
export {
  isTransient,
  NetworkError,
  type NetworkFailure,
  type TlsReason,
} from './client/network-error.ts'
export { clientOver, type RegistryClient, registryClient } from './client/registry-client.ts'
export {
  type ApiAnswer,
  type ApiRequest,
  fetchTransport,
  type RetryTimes,
  type Transport,
  type Wait,
} from './client/transport.ts'
export { uploadCalls } from './client/upload-calls.ts'
export type { Problem } from './common.ts'
export type {
  ChunkEntry,
  DeclaredChunks,
  Download,
  FileRecord,
  MissingChunk,
  ModelFile,
  NewFile,
  NewUpload,
  StartedUpload,
  Upload,
} from './file.ts'
export type { Facets, Model, ModelChanges, ModelRecord, NewModel, Stats } from './model.ts'
export type { Releases } from './release.ts'
