import { isName, isText, namedSchemas } from '@shoal/protocol'
import { Ajv, type ValidateFunction } from 'ajv'
import type { FastifyInstance, FastifySchemaCompiler } from 'fastify'
import { invalid, unprocessable } from '../errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route itself parses the query, as raw bytes. */
    hasRawQuery?: boolean
  }
}

const formats = {
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  'date-time': isTimestamp,
  email: (text: string) => /^[^\s@]+@[^\s@]+$/.test(text) && isName(text),
  name: isName,
  text: isText,
  uri: true,
  binary: true,
} as const

const shared = { useDefaults: true, allErrors: false, strict: false, formats }
const forTexts = new Ajv({ ...shared, coerceTypes: 'array', removeAdditional: false })
const validators: Record<string, Ajv> = {
  body: new Ajv({ ...shared, coerceTypes: false, removeAdditional: 'all' }),
  querystring: new Ajv({ ...shared, coerceTypes: 'array', removeAdditional: 'all' }),
}
for (const ajv of [forTexts, ...Object.values(validators)]) ajv.addSchema([...namedSchemas])

/** @throws if the schema is invalid */
export const compileSchema = ({ schema, httpPart = '' }: { schema: object; httpPart?: string }) =>
  (validators[httpPart] ?? forTexts).compile(schema)

/**
 * Validates requests with three instances of Ajv: for bodies, for queries, and for path parameters and headers. In a
 * body, `"5"` is not accepted as a number; elsewhere it is. All instances fill in defaults. Body members and query
 * parameters that are not in the schema are removed, so that cache keys and links contain only the route's own
 * parameters. A schema is compiled when it is first used, so that a registry starts sooner.
 */
export function useValidation(app: FastifyInstance) {
  const compiler: FastifySchemaCompiler<object> = (part) => {
    let validate: ValidateFunction | undefined
    return (data) => {
      validate ??= compileSchema(part)
      return validate(data) || { error: validate.errors ?? [] }
    }
  }
  app.setValidatorCompiler(compiler)
  app.addHook('preValidation', ({ params, query, body, route }, _reply, done) => {
    refuseBadTexts(params, (path) => invalid(`${path} in the path ${isNoText}`))
    if (!route.config.hasRawQuery) {
      refuseBadTexts(withoutSearch(query), (path) => invalid(`${path} in the query ${isNoText}`))
    }
    refuseBadTexts(body, (path) => {
      const errors = [{ path: `/${path.replaceAll('.', '/')}`, message: isNoText }]
      return unprocessable(`${path} ${isNoText}`, { errors })
    })
    done()
  })
}

const isNoText = 'contains a NUL or an unpaired surrogate'

/**
 * Throws if a string contains NUL or an unpaired surrogate, because neither can be displayed, and not every database
 * can store them.
 */
function refuseBadTexts(value: unknown, problem: (path: string) => Error, path: string[] = []) {
  if (typeof value === 'string') {
    if (value.includes('\0') || !value.isWellFormed()) throw problem(path.join('.') || 'the text')
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      refuseBadTexts(member, problem, [...path, name])
    }
  }
}

/** Omits the search text, which may contain any characters. */
function withoutSearch(query: unknown): object {
  const { q: _, ...others } = (query ?? {}) as { q?: unknown }
  return others
}

/** Error messages for values that do not match one of the registry's own formats. */
export const messagesByFormat: Record<string, string> = {
  name: 'must be a single non-blank line without control characters',
  text: 'must not contain control characters other than tabs and line breaks',
}

/** Whether `text` is an RFC 3339 timestamp with a day that exists in its month. */
function isTimestamp(text: string): boolean {
  const found = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i.exec(text)
  const day = new Date(`${found?.[1]}T00:00:00Z`)
  const isDay = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(found?.[1] ?? '-')
  return isDay && !Number.isNaN(Date.parse(text))
}
