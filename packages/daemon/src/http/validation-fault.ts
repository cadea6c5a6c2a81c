/**
 * Explains why a body or query does not match its schema, based on Ajv's errors
 * (https://ajv.js.org/api.html#error-objects).
 */
import type { FastifyError } from 'fastify'
import { Fault } from '../errors.ts'

type Wrong = NonNullable<FastifyError['validation']>[number]

export function validationFault(status: number, all: Wrong[], message: string): Fault {
  const wrongs = closest(all)
  const [first] = wrongs
  const param = first ? getPath(first).slice(1).replaceAll('/', '.') || null : null
  return new Fault(
    status,
    `${param ?? 'the body'} ${first ? formatReason(first, wrongs) : message}`,
    {
      param,
    },
  )
}

/**
 * If a schema allows several forms, Ajv reports the errors of every form. The relevant errors are those with the
 * deepest path. If some of these errors are not about the value's type, errors about its type are ignored.
 */
function closest(all: Wrong[]): Wrong[] {
  const wrongs = all.filter(({ keyword }) => keyword !== 'anyOf')
  const [furthest] = wrongs.toSorted((a, b) => further(getPath(a), getPath(b)))
  const there = wrongs.filter((one) => furthest && getPath(one) === getPath(furthest))
  const ofRightType = there.filter(({ keyword }) => keyword !== 'type')
  return ofRightType.length > 0 ? ofRightType : there
}

/** A JSON pointer to the invalid value, or to the missing member. */
function getPath({ instancePath, params }: Wrong): string {
  return params.missingProperty ? `${instancePath}/${params.missingProperty}` : instancePath
}

/** Sorts deeper paths first, and paths of the same depth in reverse order. */
function further(one: string, other: string): number {
  const depth = (path: string) => path.split('/').length
  return depth(other) - depth(one) || other.localeCompare(one, 'en', { numeric: true })
}

function formatReason({ keyword, params, message = '' }: Wrong, wrongs: Wrong[]): string {
  if (keyword === 'required') return 'is required'
  if (keyword === 'type') return `must be ${formatList(wrongs.flatMap((one) => one.params.type))}`
  if (keyword === 'const') return `must be ${params.allowedValue}`
  if (keyword === 'enum') return `must be ${formatList(params.allowedValues)}`
  if (/^min(Items|Length|Properties)$/.test(keyword) && params.limit === 1)
    return 'must not be empty'
  return message.replace('NOT', 'not')
}

/** Formats a list of values: `string, array or null`. */
function formatList(values: unknown): string {
  const all = [...new Set([values].flat().map(String))]
  const last = all.pop()
  return all.length > 0 ? `${all.join(', ')} or ${last}` : `${last}`
}
