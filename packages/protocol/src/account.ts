import Type, { type Static } from 'typebox'
import { Id, Name, Nullable, refTo, Timestamp } from './common.ts'

const Username = Type.String({ pattern: '^[a-z0-9_-]{2,64}$' })
/** A password has 8 to 1024 bytes in UTF-8. The schema counts characters; the registry itself counts bytes. */
const NewPassword = Type.String({ minLength: 1, maxLength: 1024 })

export const User = Type.Object(
  {
    id: Id,
    username: Type.String(),
    email: Nullable(Type.String()),
    is_admin: Type.Boolean(),
    created_at: Timestamp,
  },
  { $id: 'User' },
)
export type User = Static<typeof User>

export const UserProfile = Type.Object(
  { username: Type.String(), created_at: Timestamp, models_count: Type.Integer({ minimum: 0 }) },
  { $id: 'UserProfile' },
)
export type UserProfile = Static<typeof UserProfile>

export const RegistrySettings = Type.Object(
  {
    registration_open: Type.Boolean({
      description: 'whether an account can be created without an invitation',
    }),
  },
  { $id: 'RegistrySettings' },
)

export const Registration = Type.Object(
  {
    username: Username,
    password: NewPassword,
    email: Type.Optional(Type.String({ format: 'email', maxLength: 254 })),
    setup_code: Type.Optional(
      Type.String({
        description:
          'code that the registry prints; required for the first account if other machines can reach the registry',
      }),
    ),
    invitation: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'secret of an invitation; permits registration even if registration is closed',
      }),
    ),
  },
  { $id: 'Registration' },
)
export type Registration = Static<typeof Registration>

export const Login = Type.Object(
  { username: Type.String({ maxLength: 64 }), password: Type.String({ maxLength: 1024 }) },
  { $id: 'Login' },
)
export type Login = Static<typeof Login>

export const SignedIn = Type.Object(
  {
    access_token: Type.String(),
    token_type: Type.Literal('bearer'),
    expires_at: Timestamp,
    user: refTo(User),
  },
  { $id: 'SignedIn' },
)
export type SignedIn = Static<typeof SignedIn>

export const PasswordChange = Type.Object(
  { current_password: Type.String({ maxLength: 1024 }), new_password: NewPassword },
  { $id: 'PasswordChange' },
)
export type PasswordChange = Static<typeof PasswordChange>

export const Session = Type.Object(
  {
    id: Id,
    created_at: Timestamp,
    last_used_at: Nullable(Timestamp),
    expires_at: Timestamp,
    user_agent: Nullable(Type.String()),
    current: Type.Boolean({ description: 'whether this request was sent in this session' }),
  },
  { $id: 'Session' },
)
export type Session = Static<typeof Session>

export const Scope = Type.Enum(['read', 'write', 'admin'])
export type Scope = Static<typeof Scope>

const keyFields = {
  id: Id,
  name: Type.String(),
  prefix: Type.String({ description: 'the first characters of the key, for display' }),
  scopes: Type.Array(Scope),
  created_at: Timestamp,
  last_used_at: Nullable(Timestamp),
  expires_at: Nullable(Timestamp),
}

export const ApiKey = Type.Object(keyFields, { $id: 'ApiKey' })
export type ApiKey = Static<typeof ApiKey>

export const CreatedApiKey = Type.Object(
  { ...keyFields, key: Type.String({ description: 'the secret; returned only once' }) },
  { $id: 'CreatedApiKey' },
)
export type CreatedApiKey = Static<typeof CreatedApiKey>

export const NewApiKey = Type.Object(
  {
    name: Name({ maxLength: 100 }),
    scopes: Type.Optional(Type.Array(Scope, { minItems: 1, uniqueItems: true })),
    expires_at: Type.Optional(Nullable(Timestamp)),
  },
  { $id: 'NewApiKey' },
)
export type NewApiKey = Static<typeof NewApiKey>
