import Type, { type Static, type TSchema } from 'typebox'

/** `schema` or null. Written as a type array where it can be: the serializer is faster with it than with a union. */
export function Nullable<T extends TSchema & { type?: unknown }>(schema: T) {
  return Type.Unsafe<Static<T> | null>({ ...schema, type: [schema.type, 'null'].flat() })
}

/** A member that may be left out, or be null, which says the same. */
export const optional = <T extends Parameters<typeof Nullable>[0]>(schema: T) =>
  Type.Optional(Nullable(schema))

/** A schema by its name, so that the API document names it too. The server registers every named schema. */
export function refTo<T extends TSchema & { $id?: unknown }>(schema: T) {
  return Type.Unsafe<Static<T>>({ $ref: `${schema.$id}#` })
}

/** A name that people give: one line, not blank, without control characters (`isName`). */
export const Name = (options: { maxLength: number }) =>
  Type.String({ ...options, minLength: 1, format: 'name' })

/** Text of several lines that people write, without other control characters than tabs and line breaks (`isText`). */
export const Text = (options: { maxLength: number }) => Type.String({ ...options, format: 'text' })

/** RFC 3339 in UTC with milliseconds: `2026-01-31T12:00:00.000Z`. */
export const Timestamp = Type.String({ format: 'date-time' })

/** UUIDv7. */
export const Id = Type.String({ format: 'uuid' })

/** A SHA-256 digest: 64 lower-case hexadecimal digits. */
export const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' })

/** A count of bytes. */
export const ByteCount = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** What every error of every endpoint answers. */
export const Problem = Type.Object(
  {
    detail: Type.String({ description: 'one human sentence' }),
    code: Type.Optional(Type.String({ description: 'a stable word for programs' })),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          path: Type.String({ description: 'JSON pointer of the field' }),
          message: Type.String(),
        }),
      ),
    ),
    missing_count: Type.Optional(Type.Integer({ description: 'chunks that are still to be sent' })),
  },
  { $id: 'Problem' },
)
export type Problem = Static<typeof Problem>

/** An answer without a body. */
export const Empty = Type.Null({ description: 'no content' })
