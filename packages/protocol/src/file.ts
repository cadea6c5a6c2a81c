import { filenamePattern } from '@shoal/core/references'
import Type, { type Static } from 'typebox'
import { ByteCount, Id, Nullable, refTo, Sha256, Timestamp } from './common.ts'

export const FileStatus = Type.Enum(['uploading', 'processing', 'ready', 'failed', 'expired'])
export type FileStatus = Static<typeof FileStatus>

export const ChunkEntry = Type.Object(
  {
    index: Type.Integer({ minimum: 0, description: 'zero-based index' }),
    hash: Sha256,
    size: Type.Integer({ minimum: 1, description: 'bytes' }),
  },
  { $id: 'ChunkEntry' },
)
export type ChunkEntry = Static<typeof ChunkEntry>

const fileFields = {
  id: Id,
  model_id: Id,
  filename: Type.String(),
  quantization: Nullable(Type.String({ description: 'null until the file is ready' })),
  file_size_bytes: ByteCount,
  memory_bytes: Nullable({
    ...ByteCount,
    description:
      "estimated memory needed to run the file with one conversation of 8192 tokens, or of the model's context length if that is shorter: weights, 16-bit keys and values, and compute buffers. For the first part of a split model, the value is everything except the weights of the other parts; for each other part, it is that part's weights. The values of all parts add up to the memory for the model. Null until the file is ready, and also if the header has too little information or the file is a projector (mmproj) or adapter, which cannot run on its own",
  }),
  sha256_hash: {
    ...Sha256,
    description:
      'empty during an upload that was reserved before the hash of the whole file was known',
  },
  format: Type.Literal('gguf'),
  status: FileStatus,
  status_detail: Nullable(
    Type.String({
      description:
        'why processing failed or will be retried, what must be uploaded again, or why the upload expired',
    }),
  ),
  torrent_info_hash: Nullable(
    Type.String({ description: 'BitTorrent v1 info hash; null until the file is ready' }),
  ),
  chunk_size: ByteCount,
  seeders: Type.Integer({
    minimum: 0,
    description: 'number of peers that have the complete file, according to the tracker',
  }),
  created_at: Timestamp,
}

export const ModelFile = Type.Object(fileFields, { $id: 'ModelFile' })
export type ModelFile = Static<typeof ModelFile>

export const FileLookup = Type.Object(
  {
    sha256_hashes: Type.Array(Sha256, {
      minItems: 1,
      maxItems: 1_000,
      description: 'SHA-256 hashes of whole files',
    }),
  },
  { $id: 'FileLookup' },
)
export type FileLookup = Static<typeof FileLookup>

export const FoundFile = Type.Object(
  {
    sha256_hash: Sha256,
    model_id: Type.String(),
    model_name: Type.String(),
    file_id: Type.String(),
    filename: Type.String(),
    file_size_bytes: Type.Integer(),
  },
  { $id: 'FoundFile' },
)
export type FoundFile = Static<typeof FoundFile>

const TensorSummary = Type.Object({
  count: Type.Integer(),
  parameters: Type.Integer(),
  types: Type.Record(
    Type.String(),
    Type.Object({ count: Type.Integer(), bytes: Type.Integer(), parameters: Type.Integer() }),
  ),
})

export const FileRecord = Type.Object(
  {
    ...fileFields,
    metadata: Nullable(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          'GGUF key/value pairs; large arrays are reduced to their type, length and first items',
      }),
    ),
    tensors: Nullable(TensorSummary),
  },
  { $id: 'FileRecord' },
)
export type FileRecord = Static<typeof FileRecord>

export const NewFile = Type.Object(
  {
    filename: Type.String({ pattern: filenamePattern }),
    file_size_bytes: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    sha256_hash: Sha256,
    chunk_size: Type.Integer({ minimum: 1 }),
    chunk_hashes: Type.Array(refTo(ChunkEntry), { minItems: 1, maxItems: 10_000 }),
  },
  { $id: 'NewFile' },
)
export type NewFile = Static<typeof NewFile>

export const NewUpload = Type.Object(
  {
    filename: NewFile.properties.filename,
    file_size_bytes: NewFile.properties.file_size_bytes,
  },
  { $id: 'NewUpload' },
)
export type NewUpload = Static<typeof NewUpload>

export const DeclaredChunks = Type.Object(
  { chunk_hashes: Type.Array(refTo(ChunkEntry), { minItems: 1, maxItems: 1000 }) },
  { $id: 'DeclaredChunks' },
)
export type DeclaredChunks = Static<typeof DeclaredChunks>

export const MissingChunk = Type.Object(
  {
    ...ChunkEntry.properties,
    url: Type.String({ description: 'presigned URL to which the chunk is sent with PUT' }),
    headers: Type.Record(Type.String(), Type.String(), {
      description: 'headers to send with the PUT',
    }),
  },
  { $id: 'MissingChunk' },
)
export type MissingChunk = Static<typeof MissingChunk>

export const Upload = Type.Object(
  {
    expires_at: Timestamp,
    missing_chunks: Type.Array(refTo(MissingChunk), {
      description: 'the first missing chunks, in order',
    }),
    missing_count: Type.Integer({ minimum: 0 }),
  },
  { $id: 'Upload' },
)
export type Upload = Static<typeof Upload>

export const StartedUpload = Type.Object(
  { ...fileFields, upload: refTo(Upload) },
  { $id: 'StartedUpload' },
)
export type StartedUpload = Static<typeof StartedUpload>

export const Download = Type.Object(
  {
    direct_url: Type.String({
      format: 'uri',
      description: 'presigned URL, valid for 86400 seconds',
    }),
    torrent_url: Type.String({ format: 'uri' }),
    magnet_uri: Type.String(),
    torrent_info_hash: Type.String(),
    chunk_hashes: Type.Array(refTo(ChunkEntry)),
    file_size_bytes: ByteCount,
    sha256_hash: Sha256,
  },
  { $id: 'Download' },
)
export type Download = Static<typeof Download>
