import { modelNamePattern } from '@shoal/core/references'
import Type, { type Static } from 'typebox'
import { ByteCount, Id, Name, Nullable, Text, Timestamp } from './common.ts'

const Slug = Type.String({
  pattern: modelNamePattern,
  description: 'unique; can be used instead of the ID',
})
const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

const modelFields = {
  id: Id,
  name: Slug,
  display_name: Type.String(),
  description: Nullable(Type.String()),
  license: Nullable(Type.String()),
  architecture: Nullable(Type.String()),
  parameter_count: Nullable(Count),
  context_length: Nullable(Count),
  tags: Type.Array(Type.String()),
  downloads: Count,
  likes: Count,
  is_public: Type.Boolean(),
  owner: Type.String({ description: 'username' }),
  created_at: Timestamp,
  updated_at: Timestamp,
  liked: Nullable(
    Type.Boolean({
      description: 'whether the caller likes the model; null if the caller is anonymous',
    }),
  ),
  quantizations: Type.Array(Type.String(), { description: 'labels of the files that are ready' }),
  min_file_size_bytes: Nullable(ByteCount),
  min_memory_bytes: Nullable({
    ...ByteCount,
    description:
      'the smallest `memory_bytes` of any ready file that can run on its own, with a split file counted as the sum of its parts; null if none is known',
  }),
  cache_bytes_per_token: Nullable({
    ...ByteCount,
    description:
      'memory for the keys and values of one token of context, used to recalculate `min_memory_bytes` for another context length; null if it is unknown',
  }),
}

export const Model = Type.Object(modelFields, { $id: 'Model' })
export type Model = Static<typeof Model>

export const ModelRecord = Type.Object(
  {
    ...modelFields,
    readme: Nullable(Type.String({ description: 'model card in Markdown' })),
    files_count: Count,
    total_size_bytes: ByteCount,
    can_write: Type.Boolean({
      description:
        'whether the caller can change the model: true if the credential has the scope `write` and belongs to the owner, a member with the right `write` or an administrator',
    }),
  },
  { $id: 'ModelRecord' },
)
export type ModelRecord = Static<typeof ModelRecord>

const maxCardLength = 512 * 1024

const writableFields = {
  display_name: Name({ maxLength: 200 }),
  description: Nullable(Text({ maxLength: 2_000 })),
  license: Nullable(Name({ maxLength: 100 })),
  tags: Type.Array(Name({ maxLength: 64 }), { maxItems: 64 }),
  readme: Nullable(Text({ maxLength: maxCardLength })),
  is_public: Type.Boolean(),
  architecture: Nullable(Name({ maxLength: 100 })),
  parameter_count: Nullable(Count),
  context_length: Nullable(Count),
}

export const NewModel = Type.Object(
  { name: Slug, ...Type.Partial(Type.Object(writableFields)).properties },
  { $id: 'NewModel' },
)
export type NewModel = Static<typeof NewModel>

export const ModelChanges = Type.Partial(Type.Object({ name: Slug, ...writableFields }), {
  $id: 'ModelChanges',
})
export type ModelChanges = Static<typeof ModelChanges>

export const CardDraft = Type.Object({
  readme: Type.String({ maxLength: maxCardLength }),
  names: Type.Array(Type.String({ maxLength: 200 }), {
    maxItems: 2,
    default: [],
    description:
      'names of the model; the card’s first heading is omitted if it is one of these names',
  }),
})
export type CardDraft = Static<typeof CardDraft>

export const ModelQuery = Type.Object({
  q: Type.Optional(Type.String({ description: 'full-text search' })),
  architecture: Type.Optional(Type.String()),
  tag: Type.Optional(
    Type.Array(Type.String(), { maxItems: 16, description: 'only models with all of these tags' }),
  ),
  owner: Type.Optional(Type.String()),
  license: Type.Optional(Type.String()),
  quantization: Type.Optional(Type.String()),
  min_parameters: Type.Optional(Count),
  max_parameters: Type.Optional(Count),
  max_file_size_bytes: Type.Optional({
    ...ByteCount,
    description: 'only models with a ready file of at most this size',
  }),
  max_memory_bytes: Type.Optional({
    ...ByteCount,
    description:
      'only models whose `min_memory_bytes` is known and, when recalculated for a context of `context_length` tokens, is at most this value',
  }),
  context_length: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description:
        'context length for `max_memory_bytes`, in tokens (default: 8192); for a model with a shorter context length, that length is used instead; has no effect without `max_memory_bytes`',
    }),
  ),
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 20 }),
  offset: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 }),
  sort: Type.Enum(['downloads', 'likes', 'created_at', 'relevance'], { default: 'downloads' }),
  order: Type.Enum(['desc', 'asc'], { default: 'desc' }),
  cursor: Type.Optional(
    Type.String({
      pattern: '^-?\\d{1,15}(\\.\\d{1,20})?_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
      description:
        'an alternative to `offset`: the position after which the page begins; the `rel="next"` link in the `Link` header of a page contains the value for the next page',
    }),
  ),
})
export type ModelQuery = Static<typeof ModelQuery>

export const Like = Type.Object({ liked: Type.Boolean() }, { $id: 'Like' })

const FacetValue = Type.Object({ value: Type.String(), count: Count })
export const Facets = Type.Object(
  {
    architectures: Type.Array(FacetValue),
    licenses: Type.Array(FacetValue),
    tags: Type.Array(FacetValue),
    quantizations: Type.Array(FacetValue),
  },
  { $id: 'Facets' },
)
export type Facets = Static<typeof Facets>

export const Stats = Type.Object(
  {
    models: Count,
    files: Count,
    bytes: ByteCount,
    downloads: Count,
    parameter_counts: Type.Array(Nullable(Count), {
      description: 'parameter counts of the 240 most downloaded models, most downloaded first',
    }),
  },
  { $id: 'Stats', description: 'totals for public models' },
)
export type Stats = Static<typeof Stats>

export const MemberRight = Type.Enum(['read', 'write'])
export type MemberRight = Static<typeof MemberRight>

/** An account that a model is shared with. */
export const Member = Type.Object(
  { username: Type.String(), right: MemberRight, created_at: Timestamp },
  { $id: 'Member' },
)
export type Member = Static<typeof Member>

export const MemberChange = Type.Object({ right: MemberRight }, { $id: 'MemberChange' })
export type MemberChange = Static<typeof MemberChange>

export const ModelTransfer = Type.Object(
  { username: Type.String({ description: 'the new owner' }) },
  { $id: 'ModelTransfer' },
)
export type ModelTransfer = Static<typeof ModelTransfer>
