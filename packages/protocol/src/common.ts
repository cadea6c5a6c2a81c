import Type, { type Static, type TSchema } from 'typebox'

/**
 * Returns the schema of a value that matches `schema` or is null. Uses a type array, which the serializer handles
 * faster than a union.
 */
export function Nullable<T extends TSchema & { type?: unknown }>(schema: T) {
  return Type.Unsafe<Static<T> | null>({ ...schema, type: [schema.type, 'null'].flat() })
}

/** An optional member. A null value means the same as an omitted member. */
export const optional = <T extends Parameters<typeof Nullable>[0]>(schema: T) =>
  Type.Optional(Nullable(schema))

/**
 * Returns a reference to a named schema, so that the OpenAPI document also refers to the schema by name. The server
 * registers every named schema.
 */
export function refTo<T extends TSchema & { $id?: unknown }>(schema: T) {
  return Type.Unsafe<Static<T>>({ $ref: `${schema.$id}#` })
}

/** A name given by a user: one line, not blank, without control characters (`isName`). */
export const Name = (options: { maxLength: number }) =>
  Type.String({ ...options, minLength: 1, format: 'name' })

/** Multi-line text from a user, without control characters other than tabs and line breaks (`isText`). */
export const Text = (options: { maxLength: number }) => Type.String({ ...options, format: 'text' })

/** A time in UTC with milliseconds, in RFC 3339 format: `2026-01-31T12:00:00.000Z`. */
export const Timestamp = Type.String({ format: 'date-time' })

/** A UUID, version 7. */
export const Id = Type.String({ format: 'uuid' })

/** A SHA-256 digest: 64 lowercase hexadecimal digits. */
export const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' })

/** A number of bytes. */
export const ByteCount = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** The body of every error response. */
export const Problem = Type.Object(
  {
    detail: Type.String({ description: 'an explanation for people' }),
    code: Type.Optional(Type.String({ description: 'a stable identifier for programs' })),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          path: Type.String({ description: 'JSON pointer to the field' }),
          message: Type.String(),
        }),
      ),
    ),
    missing_count: Type.Optional(
      Type.Integer({ description: 'number of chunks still to be uploaded' }),
    ),
  },
  { $id: 'Problem' },
)
export type Problem = Static<typeof Problem>

/** A response without a body. */
export const Empty = Type.Null({ description: 'no content' })
