import { isName, isText } from '@shoal/protocol'
import { Ajv } from 'ajv'
import type { FastifyInstance, FastifySchemaCompiler } from 'fastify'
import { invalid, unprocessable } from '../errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route reads the bytes of its query itself. */
    hasRawQuery?: boolean
  }
}

/**
 * Ajv, once for bodies and once for what arrives as text. In a body `"5"` is no number; in a query it is. Both fill in
 * defaults; bodies lose members that no schema names.
 */
export function useValidation(app: FastifyInstance) {
  const shared = { useDefaults: true, allErrors: false, strict: false, formats }
  const forBodies = new Ajv({ ...shared, coerceTypes: false, removeAdditional: 'all' })
  const forTexts = new Ajv({ ...shared, coerceTypes: 'array', removeAdditional: false })
  const compiler: FastifySchemaCompiler<object> = ({ schema, httpPart }) => {
    const ajv = httpPart === 'body' ? forBodies : forTexts
    return ajv.compile(schema)
  }
  app.setValidatorCompiler(compiler)
  app.addHook('preValidation', async ({ params, query, body, routeOptions }) => {
    refuseBadTexts(params, (path) => invalid(`${path} of the path ${isNoText}`))
    if (!routeOptions.config.hasRawQuery) {
      refuseBadTexts(withoutSearch(query), (path) => invalid(`${path} of the query ${isNoText}`))
    }
    refuseBadTexts(body, (path) => {
      const errors = [{ path: `/${path.replaceAll('.', '/')}`, message: isNoText }]
      return unprocessable(`${path} ${isNoText}`, { errors })
    })
  })
  return (schema: { $id: string }) => {
    forBodies.addSchema(schema)
    forTexts.addSchema(schema)
  }
}

const isNoText = 'holds a NUL or half a character'

/** Throws for what no database keeps and no screen shows: NUL, and surrogates without their other half. */
function refuseBadTexts(value: unknown, problem: (path: string) => Error, path: string[] = []) {
  if (typeof value === 'string') {
    if (value.includes('\0') || !value.isWellFormed()) throw problem(path.join('.') || 'the text')
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      refuseBadTexts(member, problem, [...path, name])
    }
  }
}

/** Any text is a legal search. */
function withoutSearch(query: unknown): object {
  const { q: _, ...others } = (query ?? {}) as { q?: unknown }
  return others
}

/** What is wrong with a value that misses one of our own formats. */
export const messageOfFormat: Record<string, string> = {
  name: 'must be a single line that is not blank, without control characters',
  text: 'must not contain control characters other than tabs and line breaks',
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

/** RFC 3339, with a day that the month has. */
function isTimestamp(text: string): boolean {
  const found = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i.exec(text)
  const day = new Date(`${found?.[1]}T00:00:00Z`)
  const isDay = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(found?.[1] ?? '-')
  return isDay && !Number.isNaN(Date.parse(text))
}
