import Type from 'typebox'
import {
  ApiKey,
  CreatedApiKey,
  Login,
  NewApiKey,
  PasswordChange,
  Registration,
  RegistrySettings,
  Session,
  SignedIn,
  UserProfile,
} from './account.ts'
import { Me } from './admin.ts'
import { Empty, refTo, Sha256 } from './common.ts'
import {
  DeclaredChunks,
  Download,
  FileLookup,
  FileRecord,
  FoundFile,
  ModelFile,
  NewFile,
  NewUpload,
  StartedUpload,
  Upload,
} from './file.ts'
import {
  CardDraft,
  Facets,
  Like,
  Member,
  MemberChange,
  Model,
  ModelChanges,
  ModelQuery,
  ModelRecord,
  ModelTransfer,
  NewModel,
  Stats,
} from './model.ts'
import { Releases } from './release.ts'
import * as routes from './routes.ts'

const ModelPath = Type.Object({ id: Type.String({ description: 'model ID or slug' }) })
const FilePath = Type.Object({
  id: Type.String({ description: 'model ID or slug' }),
  file_id: Type.String(),
})
const DownloadPath = Type.Object({
  model_id: Type.String({ description: 'model ID or slug' }),
  file_id: Type.String(),
})
const ChunkPath = Type.Object({
  chunk_hash: {
    ...Sha256,
    pattern: '^[0-9a-fA-F]{64}$',
    description: 'SHA-256 of a chunk, or of a whole file that is ready',
  },
})
const Token = {
  token: Type.String({ description: 'token that grants access to one private file' }),
}
const IdPath = Type.Object({ id: Type.String() })
const Html = Type.String({ description: 'an HTML fragment' })
const TorrentFile = Type.Unsafe<Uint8Array>({ type: 'string', format: 'binary' })

// Models

export const listModels = {
  ...routes.listModels,
  schema: {
    tags: ['models'],
    summary: 'List and search models',
    description:
      'The models are sorted by the field that `sort` specifies, in descending order by default. The `X-Total-Count` header is the number of matches (exact up to 10,000); the `Link` header links to the next and previous pages.',
    querystring: ModelQuery,
    response: { 200: Type.Array(refTo(Model)) },
  },
}

export const createModel = {
  ...routes.createModel,
  schema: {
    tags: ['models'],
    summary: 'Create a model',
    description: 'Responds with 409 if the name is taken.',
    body: refTo(NewModel),
    response: { 201: refTo(ModelRecord) },
  },
}

export const getModel = {
  ...routes.getModel,
  schema: {
    tags: ['models'],
    summary: 'Get a model',
    description:
      'A former name of the model can be used instead, unless another model has taken that name. The `name` in the response is always the current name. The same applies to all other requests that only read. Requests that change something accept only the current name; for a former name, the response is 404 (`model_renamed`).',
    params: ModelPath,
    response: { 200: refTo(ModelRecord) },
  },
}

export const updateModel = {
  ...routes.updateModel,
  schema: {
    tags: ['models'],
    summary: 'Change a model',
    description:
      'Only the owner, members with the right `write`, and administrators can change a model. Changing `is_public` also changes the torrents and info hashes of the files. If the model is private and the API key does not have the scope `read`, responds with 204, without the model.',
    params: ModelPath,
    body: refTo(ModelChanges),
    response: { 200: refTo(ModelRecord), 204: Empty },
  },
}

export const deleteModel = {
  ...routes.deleteModel,
  schema: {
    tags: ['models'],
    summary: 'Delete a model and its files',
    description:
      'With `only_if_empty`, responds with 409 (`model_not_empty`) if the model has a file or an open upload.',
    params: ModelPath,
    querystring: Type.Object({ only_if_empty: Type.Boolean({ default: false }) }),
    response: { 204: Empty },
  },
}

export const getCard = {
  ...routes.getCard,
  schema: {
    tags: ['models'],
    summary: 'Get the model card as HTML',
    description:
      'The HTML is safe to embed in a page: it has no scripts, styles or forms, and all its IDs begin with `card-`. It is empty for a model without a card. If the card has not been rendered in time, the HTML contains the source of the card, and the response has a `Retry-After` header.',
    produces: ['text/html'],
    params: ModelPath,
    querystring: Type.Object({
      images: Type.Enum(['0', '1'], {
        default: '0',
        description:
          '1: images are loaded from their original URLs; 0: nothing is loaded from other servers',
      }),
    }),
    response: { 200: Html },
  },
}

export const renderCard = {
  ...routes.renderCard,
  schema: {
    tags: ['models'],
    summary: 'Render a draft of a model card',
    description:
      'Returns the HTML that `GET /v1/models/{id}/card` would return for this card. Nothing is saved.',
    produces: ['text/html'],
    body: CardDraft,
    response: { 200: Html },
  },
}

export const toggleLike = {
  ...routes.toggleLike,
  schema: {
    tags: ['models'],
    summary: 'Toggle a like',
    description:
      "`POST` and `DELETE` both toggle the caller's like, so they are not safe to retry; use `PUT` instead.",
    params: ModelPath,
    response: { 204: Empty },
  },
}

export const setLike = {
  ...routes.setLike,
  schema: {
    tags: ['models'],
    summary: 'Set or remove a like',
    params: ModelPath,
    body: refTo(Like),
    response: { 204: Empty },
  },
}

export const getFacets = {
  ...routes.getFacets,
  schema: {
    tags: ['models'],
    summary: 'Count models by architecture, license, tag and quantization',
    description:
      'Accepts the same filters as the list of models. Returns at most 100 values for each property, most frequent first.',
    querystring: Type.Omit(ModelQuery, ['limit', 'offset', 'sort', 'order', 'cursor']),
    response: { 200: refTo(Facets) },
  },
}

export const getStats = {
  ...routes.getStats,
  schema: {
    tags: ['models'],
    summary: 'Get totals for public models',
    response: { 200: refTo(Stats) },
  },
}

export const getReleases = {
  ...routes.getReleases,
  schema: {
    tags: ['downloads'],
    summary: 'List the releases of shoal for installation',
    description: 'No account is required, even on a members-only registry.',
    response: { 200: refTo(Releases) },
  },
}

export const getUser = {
  ...routes.getUser,
  schema: {
    tags: ['accounts'],
    summary: 'Get a public profile',
    params: Type.Object({ username: Type.String() }),
    response: { 200: refTo(UserProfile) },
  },
}

// Files

export const listFiles = {
  ...routes.listFiles,
  schema: {
    tags: ['files'],
    summary: 'List the files of a model',
    description:
      'Returns only files that are ready. With `status=all`, the owner, members and administrators get all files.',
    params: ModelPath,
    querystring: Type.Object({ status: Type.Enum(['ready', 'all'], { default: 'ready' }) }),
    response: { 200: Type.Array(refTo(ModelFile)) },
  },
}

export const lookUpFiles = {
  ...routes.lookUpFiles,
  bodyLimit: 128 * 1024,
  schema: {
    tags: ['files'],
    summary: 'Find files by their SHA-256 hashes',
    description:
      'For each hash, returns one ready file that has this hash and that the caller may read: the one in the model with the most downloads. Hashes without such a file are left out. The registry does not store the hashes.',
    body: refTo(FileLookup),
    response: { 200: Type.Array(refTo(FoundFile)) },
  },
}

export const startUpload = {
  ...routes.startUpload,
  bodyLimit: 4 * 1024 * 1024,
  schema: {
    tags: ['files'],
    summary: 'Start or resume the upload of a file',
    description:
      'Responds with 201 for a new upload, and with 200 for a resumed upload. The response lists the first 100 missing chunks.',
    params: ModelPath,
    body: refTo(NewFile),
    response: { 200: refTo(StartedUpload), 201: refTo(StartedUpload) },
  },
}

export const reserveUpload = {
  ...routes.reserveUpload,
  schema: {
    tags: ['files'],
    summary: 'Start the upload of a file before its hashes are known',
    description:
      'Reserves space for a file of this size and counts it against the quota. Then declare the hashes of the chunks as they become known. A chunk can be sent as soon as its hash has been declared. Before you complete the upload, start the upload of the same file with its complete manifest (`POST /v1/models/{id}/files`), which keeps the chunks that were sent. Responds with 201 for a new upload, and with 200 if an unfinished upload with this filename and size exists.',
    params: ModelPath,
    body: refTo(NewUpload),
    response: { 200: refTo(StartedUpload), 201: refTo(StartedUpload) },
  },
}

export const declareChunks = {
  ...routes.declareChunks,
  schema: {
    tags: ['files'],
    summary: "Declare hashes of an upload's chunks",
    description:
      'Declares the hashes of up to 1,000 chunks of an upload. Returns the declared chunks that are still missing, with the URLs to which they must be sent. A declared hash cannot change: if a different hash was declared for one of the chunks, responds with 409 (`hash_conflict`).',
    params: FilePath,
    body: refTo(DeclaredChunks),
    response: { 200: refTo(Upload) },
  },
}

export const getFile = {
  ...routes.getFile,
  schema: {
    tags: ['files'],
    summary: 'Get a file and the metadata of its GGUF header',
    params: FilePath,
    response: { 200: refTo(FileRecord) },
  },
}

export const getUpload = {
  ...routes.getUpload,
  schema: {
    tags: ['files'],
    summary: 'List the chunks still to be uploaded',
    params: FilePath,
    querystring: Type.Object({
      from: Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        default: 0,
        description: 'chunks with a lower index are not listed',
      }),
      limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100 }),
    }),
    response: { 200: refTo(Upload) },
  },
}

export const completeUpload = {
  ...routes.completeUpload,
  schema: {
    tags: ['files'],
    summary: 'Complete an upload',
    description:
      'Starts the verification of the file. Responds with 409 and `missing_count` while chunks are missing.',
    params: FilePath,
    response: { 202: refTo(ModelFile) },
  },
}

export const deleteFile = {
  ...routes.deleteFile,
  schema: {
    tags: ['files'],
    summary: 'Delete a file or cancel its upload',
    params: FilePath,
    response: { 204: Empty },
  },
}

// Downloads

export const getDownload = {
  ...routes.getDownload,
  schema: {
    tags: ['downloads'],
    summary: 'Get the download links and chunk hashes of a file',
    description: 'Each successful call increases the `downloads` count of the model by one.',
    params: DownloadPath,
    response: { 200: refTo(Download) },
  },
}

export const getTorrent = {
  ...routes.getTorrent,
  schema: {
    tags: ['downloads'],
    summary: 'Get the torrent file',
    produces: ['application/x-bittorrent'],
    params: DownloadPath,
    response: { 200: TorrentFile },
  },
}

export const getTorrentByToken = {
  ...routes.getTorrentByToken,
  schema: {
    ...getTorrent.schema,
    summary: 'Get the torrent file of a private file',
    params: Type.Object({ ...DownloadPath.properties, ...Token }),
  },
}

export const getChunk = {
  ...routes.getChunk,
  schema: {
    tags: ['downloads'],
    summary: 'Redirect to a chunk',
    description:
      'If the SHA-256 is that of a whole file that is ready, redirects to the file instead. The web seed of a torrent (BEP 19) is this endpoint with the SHA-256 of the file.',
    params: ChunkPath,
    response: { 302: Empty },
  },
}

export const getChunkByToken = {
  ...routes.getChunkByToken,
  schema: {
    ...getChunk.schema,
    summary: 'Redirect to a chunk of a private file',
    params: Type.Object({ ...ChunkPath.properties, ...Token }),
  },
}

// Accounts

export const getRegistry = {
  ...routes.getRegistry,
  schema: {
    tags: ['accounts'],
    summary: 'Get the settings that concern visitors',
    description: 'Requires no account, even on a members-only registry.',
    response: { 200: refTo(RegistrySettings) },
  },
}

export const register = {
  ...routes.register,
  schema: {
    tags: ['accounts'],
    summary: 'Create an account',
    description:
      'Responds with 409 if the username is taken or reserved. The first account becomes an administrator.',
    body: refTo(Registration),
    response: { 201: refTo(SignedIn) },
  },
}

export const login = {
  ...routes.login,
  schema: {
    tags: ['accounts'],
    summary: 'Sign in',
    body: refTo(Login),
    response: { 200: refTo(SignedIn) },
  },
}

export const logout = {
  ...routes.logout,
  schema: {
    tags: ['accounts'],
    summary: 'End the current session',
    response: { 204: Empty },
  },
}

export const getMe = {
  ...routes.getMe,
  schema: {
    tags: ['accounts'],
    summary: "Get the caller's account, with its role and usage",
    response: { 200: refTo(Me) },
  },
}

export const changePassword = {
  ...routes.changePassword,
  schema: {
    tags: ['accounts'],
    summary: 'Change the password and end all other sessions',
    body: refTo(PasswordChange),
    response: { 204: Empty },
  },
}

export const listSessions = {
  ...routes.listSessions,
  schema: {
    tags: ['accounts'],
    summary: "List the caller's sessions",
    response: { 200: Type.Array(refTo(Session)) },
  },
}

export const deleteSession = {
  ...routes.deleteSession,
  schema: {
    tags: ['accounts'],
    summary: 'End a session',
    params: IdPath,
    response: { 204: Empty },
  },
}

export const createApiKey = {
  ...routes.createApiKey,
  schema: {
    tags: ['accounts'],
    summary: 'Create an API key',
    description:
      'Requires a session; an API key cannot create API keys. Only this response contains the new key itself.',
    body: refTo(NewApiKey),
    response: { 201: refTo(CreatedApiKey) },
  },
}

export const listApiKeys = {
  ...routes.listApiKeys,
  schema: {
    tags: ['accounts'],
    summary: "List the caller's API keys",
    response: { 200: Type.Array(refTo(ApiKey)) },
  },
}

export const deleteApiKey = {
  ...routes.deleteApiKey,
  schema: {
    tags: ['accounts'],
    summary: 'Revoke an API key',
    params: IdPath,
    response: { 204: Empty },
  },
}

// Members

const MemberPath = Type.Object({
  id: Type.String({ description: 'model ID or slug' }),
  username: Type.String(),
})

export const listMembers = {
  ...routes.listMembers,
  schema: {
    tags: ['models'],
    summary: 'List the members of a model',
    description:
      'Members can read a model even if it is private. Members with the right `write` can also change it. Only the owner, members and administrators can list the members.',
    params: ModelPath,
    response: { 200: Type.Array(refTo(Member)) },
  },
}

export const setMember = {
  ...routes.setMember,
  schema: {
    tags: ['models'],
    summary: "Share a model with an account, or change a member's right",
    description: 'Only the owner and administrators can do this.',
    params: MemberPath,
    body: refTo(MemberChange),
    response: { 200: refTo(Member) },
  },
}

export const removeMember = {
  ...routes.removeMember,
  schema: {
    tags: ['models'],
    summary: 'End a membership',
    description:
      'The links to the model\u2019s private files become invalid for everyone who has them. The owner and administrators can remove any member, and members can remove themselves.',
    params: MemberPath,
    response: { 204: Empty },
  },
}

export const transferModel = {
  ...routes.transferModel,
  schema: {
    tags: ['models'],
    summary: 'Make another account the owner',
    description:
      'Only administrators can do this. The previous owner becomes a member with the right `read`. The files then count against the quota of the new owner, even if they exceed it.',
    params: ModelPath,
    body: refTo(ModelTransfer),
    response: { 204: Empty },
  },
}

export * from './admin-endpoints.ts'
