/** What is wrong with a body that misses its schema, out of what Ajv says (https://ajv.js.org/api.html#error-objects). */
import type { FastifyError } from 'fastify'
import { Fault } from '../errors.ts'

type Wrong = NonNullable<FastifyError['validation']>[number]

export function validationFault(all: Wrong[], message: string): Fault {
  const wrongs = closest(all)
  const [first] = wrongs
  const param = first ? getPath(first).slice(1).replaceAll('/', '.') || null : null
  return new Fault(422, `${param ?? 'the body'} ${first ? formatReason(first, wrongs) : message}`, {
    param,
  })
}

/**
 * Where one of several forms will do, Ajv tells what is wrong with each of them. Meant is the form that went furthest:
 * one whose type was right, or else all of them together.
 */
function closest(all: Wrong[]): Wrong[] {
  const wrongs = all.filter(({ keyword }) => keyword !== 'anyOf')
  const [furthest] = wrongs.toSorted((a, b) => further(getPath(a), getPath(b)))
  const there = wrongs.filter((one) => furthest && getPath(one) === getPath(furthest))
  const ofRightType = there.filter(({ keyword }) => keyword !== 'type')
  return ofRightType.length > 0 ? ofRightType : there
}

/** A JSON pointer, also of what is missing. */
function getPath({ instancePath, params }: Wrong): string {
  return params.missingProperty ? `${instancePath}/${params.missingProperty}` : instancePath
}

/** Puts what lies deeper first, and of one depth what comes later. */
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

/** `string, array or null`. */
function formatList(values: unknown): string {
  const all = [...new Set([values].flat().map(String))]
  const last = all.pop()
  return all.length > 0 ? `${all.join(', ')} or ${last}` : `${last}`
}
