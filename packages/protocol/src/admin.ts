/** Schemas for administrators: accounts, invitations, the audit log and the registry's status. */
import Type, { type Static } from 'typebox'
import { User } from './account.ts'
import { auditActions } from './audit-actions.ts'
import { ByteCount, Id, Name, Nullable, refTo, Timestamp } from './common.ts'

export const Role = Type.Enum(['admin', 'user'])
export type Role = Static<typeof Role>

/** An account's usage and its quota. */
export const Usage = Type.Object(
  {
    stored_bytes: ByteCount,
    quota_bytes: Nullable(ByteCount),
    models_count: Type.Integer({ minimum: 0 }),
    api_keys_count: Type.Integer({ minimum: 0 }),
  },
  { $id: 'Usage' },
)
export type Usage = Static<typeof Usage>

export const Me = Type.Object(
  { ...User.properties, role: Role, usage: refTo(Usage) },
  { $id: 'Me' },
)
export type Me = Static<typeof Me>

export const AdminUser = Type.Object(
  {
    id: Id,
    username: Type.String(),
    email: Nullable(Type.String()),
    role: Type.Enum(['admin', 'user', 'system'], {
      description: 'system: the registry’s own account, which cannot sign in',
    }),
    created_at: Timestamp,
    disabled_at: Nullable(Timestamp),
    last_used_at: Nullable({
      ...Timestamp,
      description: 'last use of a session or an API key, to the minute',
    }),
    own_quota_bytes: Nullable({
      ...ByteCount,
      description: 'the account’s own quota; null: the registry’s default applies',
    }),
    sessions_count: Type.Integer({ minimum: 0 }),
    usage: refTo(Usage),
  },
  { $id: 'AdminUser' },
)
export type AdminUser = Static<typeof AdminUser>

export const NewUser = Type.Object(
  {
    username: Type.String({ pattern: '^[a-z0-9_-]{2,64}$' }),
    email: Type.Optional(Type.String({ format: 'email', maxLength: 254 })),
    role: Type.Optional(Role),
  },
  { $id: 'NewUser' },
)
export type NewUser = Static<typeof NewUser>

export const PasswordReset = Type.Object(
  {
    password: Type.String({ description: 'the new random password; returned only once' }),
    sessions_ended: Type.Integer({ minimum: 0 }),
    keys_revoked: Type.Integer({ minimum: 0 }),
  },
  { $id: 'PasswordReset' },
)
export type PasswordReset = Static<typeof PasswordReset>

export const CreatedUser = Type.Object(
  {
    user: refTo(AdminUser),
    password: Type.String({ description: 'a random password; returned only once' }),
  },
  { $id: 'CreatedUser' },
)
export type CreatedUser = Static<typeof CreatedUser>

export const UserChanges = Type.Object(
  {
    role: Type.Optional(Role),
    is_disabled: Type.Optional(Type.Boolean()),
    own_quota_bytes: Type.Optional(
      Nullable({ ...ByteCount, description: 'null: the registry’s default' }),
    ),
  },
  { $id: 'UserChanges', minProperties: 1 },
)
export type UserChanges = Static<typeof UserChanges>

export const UserRemoval = Type.Object({
  give_to: Type.Optional(
    Type.String({ description: 'the account that becomes the owner of the models' }),
  ),
  delete_models: Type.Boolean({ default: false, description: 'whether to delete the models' }),
})
export type UserRemoval = Partial<Static<typeof UserRemoval>>

const invitationFields = {
  id: Id,
  note: Nullable(Type.String()),
  role: Role,
  created_by: Nullable(
    Type.String({
      description: 'an administrator’s username; null: a command on the registry’s host',
    }),
  ),
  created_at: Timestamp,
  expires_at: Timestamp,
  used_at: Nullable(Timestamp),
  used_by: Nullable(Type.String()),
}

/** An invitation is valid for one registration within seven days. */
export const Invitation = Type.Object(invitationFields, { $id: 'Invitation' })
export type Invitation = Static<typeof Invitation>

export const CreatedInvitation = Type.Object(
  {
    ...invitationFields,
    token: Type.String({ description: 'the secret; returned only once' }),
    url: Type.String({ description: 'the page on which the invitation is accepted' }),
  },
  { $id: 'CreatedInvitation' },
)
export type CreatedInvitation = Static<typeof CreatedInvitation>

export const NewInvitation = Type.Object(
  {
    note: Type.Optional(Name({ maxLength: 200 })),
    role: Type.Optional(Role),
  },
  { $id: 'NewInvitation' },
)
export type NewInvitation = Static<typeof NewInvitation>

export const AuditEntry = Type.Object(
  {
    seq: Type.Integer({ minimum: 1, description: 'increases with each entry' }),
    at: Timestamp,
    action: Type.Enum([...auditActions]),
    actor: Nullable(
      Type.String({ description: 'a username; null: a command on the registry’s host' }),
    ),
    credential: Type.String({
      description:
        'the credential that authorized the action: `session <id>`, `key <id>`, `password`, `invitation <id>` or `host`',
    }),
    address: Nullable(Type.String({ description: 'the client’s IP address' })),
    subject_kind: Type.Enum(['user', 'model', 'file', 'invitation', 'registry']),
    subject: Type.String(),
    detail: Type.Record(Type.String(), Type.Unknown()),
  },
  { $id: 'AuditEntry' },
)
export type AuditEntry = Static<typeof AuditEntry>

export const AuditQuery = Type.Object({
  before: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'only entries before this sequence number',
    }),
  ),
  after: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'only entries after this sequence number, oldest first',
    }),
  ),
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 100 }),
  actor: Type.Optional(Type.String({ maxLength: 64 })),
  subject: Type.Optional(Type.String({ maxLength: 300 })),
  action: Type.Optional(Type.Enum([...auditActions])),
})
export type AuditQuery = Partial<Static<typeof AuditQuery>>

const Amount = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** The state of the registry's store and queue. */
export const RegistryStatus = Type.Object(
  {
    database: Type.Enum(['sqlite', 'postgres']),
    store: Type.Object({
      kind: Type.Enum(['disk', 's3']),
      is_available: Type.Boolean({ description: 'false if the store failed a check' }),
      stored_bytes: {
        ...Amount,
        description: 'total size of the ready files; a file in several models is counted once',
      },
      free_bytes: Nullable({
        ...Amount,
        description: 'null if the space is unlimited or cannot be determined',
      }),
      reserve_bytes: Nullable({ ...Amount, description: 'space that uploads must leave free' }),
      awaited_bytes: Nullable({
        ...Amount,
        description: 'space reserved for the missing parts of open uploads',
      }),
    }),
    processing: Type.Object({
      waiting: { ...Amount, description: 'number of files waiting to be processed' },
      running: { ...Amount, description: 'number of files that a node is processing' },
      oldest_at: Nullable({
        ...Timestamp,
        description: 'when the upload of the oldest file that is waiting or being processed began',
      }),
    }),
    uploads: { ...Amount, description: 'number of open uploads' },
    failed_files: { ...Amount, description: 'number of files that could not be published' },
  },
  { $id: 'RegistryStatus' },
)
export type RegistryStatus = Static<typeof RegistryStatus>
