/** Converts array schemas to grammars. */

import { choice, empty, type Node, nothing, sequence } from '../gbnf/node.ts'
import { counted } from '../gbnf/repetition.ts'
import {
  has,
  isSchema,
  type Lengths,
  lengthsOf,
  requireList,
  type Schema,
  valuesOf,
} from '../schema/schema.ts'
import { cannot } from '../schema/schema-error.ts'
import type { Conversion } from './conversion.ts'
import { continued, enclosed, ended, literal, separated } from './json-text.ts'
import { finiteValues, refuseExcluded } from './values.ts'

type Subject = { conversion: Conversion; parts: readonly Schema[]; lengths: Lengths; path: string }

export function arrayNode(conversion: Conversion, parts: readonly Schema[], path: string): Node {
  refuseExcluded('array', parts, path)
  const lengths = lengthsOf(parts, ['minItems', 'maxItems'], path)
  if (lengths.min > lengths.max) {
    conversion.explain(path, 'its minimum number of items is greater than its maximum')
    return nothing
  }
  const subject = { conversion, parts, lengths, path }
  if (valuesOf(parts, 'uniqueItems').includes(true) && lengths.max > 1) return uniqueItems(subject)
  return parts.some((part) => has(part, 'contains')) ? containing(subject) : anyItems(subject)
}

function anyItems({ conversion, parts, lengths: { min, max }, path }: Subject): Node {
  const tuple = Math.min(max, tupleLength(parts, path))
  const first = Array.from({ length: tuple }, (_, index) =>
    conversion.visit(itemSchemas(parts, index, path), `${path}/prefixItems/${index}`),
  )
  const schemas = itemSchemas(parts, Infinity, path)
  if (max === tuple || schemas.includes(false)) {
    if (min <= tuple) return enclosed('[', tuple === 0 ? empty : ended(separated(first)), ']')
    conversion.explain(path, 'its minimum number of items is greater than its maximum')
    return nothing
  }
  const item = conversion.visit(schemas, `${path}/items`)
  const [beginning, start] = tuple === 0 ? [item, 1] : [separated(first), tuple]
  const next = conversion.grammar.add('next', continued(item))
  const rest = { min: Math.max(0, min - start), max: max - start }
  const items = ended(sequence(beginning, counted(conversion.grammar, next, rest)))
  return enclosed('[', min === 0 && tuple === 0 ? choice(empty, items) : items, ']')
}

/** The schemas of the first items: `prefixItems` or, before draft 2020-12, a list in `items`. */
function tupleOf(part: Schema, path: string): readonly unknown[] {
  const keyword = Array.isArray(part.items) ? 'items' : 'prefixItems'
  if (!has(part, keyword) || isSchema(part[keyword])) return []
  return requireList(part, keyword, path, true)
}

const tupleLength = (parts: readonly Schema[], path: string): number =>
  Math.max(0, ...parts.map((part) => tupleOf(part, path).length))

/** The schemas that the item at this index has to match. */
function itemSchemas(parts: readonly Schema[], index: number, path: string): unknown[] {
  return parts.flatMap((part) => {
    const tuple = tupleOf(part, path)
    if (index < tuple.length) return [tuple[index]]
    const own = valuesOf([part], Array.isArray(part.items) ? 'additionalItems' : 'items')
    // If `prefixItems` is a single schema, which is invalid, it applies to all items, as in llama.cpp.
    if (isSchema(part.prefixItems)) own.push(part.prefixItems)
    return own.length > 0 ? own : valuesOf([part], 'unevaluatedItems')
  })
}

const maxStates = 2000

/** An array in which the next item depends on the items before it. */
type Steps<S> = {
  keyword: string
  start: S
  /** Equal states have equal keys. */
  key: (state: S) => string
  mayEnd: (state: S) => boolean
  next: (state: S) => { item: Node; state: S }[]
}

function stepwise<S>({ conversion, path }: Subject, steps: Steps<S>): Node {
  const known = new Map<string, Node>()
  const waiting: { state: S; set: (body: Node) => void }[] = []
  function rest(state: S): Node {
    const key = steps.key(state)
    const done = known.get(key)
    if (done) return done
    if (known.size >= maxStates) throw cannot(path, steps.keyword, 'it allows too many items')
    const { node, set } = conversion.grammar.reserve('rest')
    known.set(key, node)
    waiting.push({ state, set })
    return node
  }
  const ways = (state: S) =>
    steps.next(state).map(({ item, state: after }) => sequence(item, rest(after)))
  const first = ended(choice(...ways(steps.start)))
  for (const { state, set } of waiting) {
    set(choice(...(steps.mayEnd(state) ? [empty] : []), ...ways(state).map(continued)))
  }
  return enclosed('[', steps.mayEnd(steps.start) ? choice(empty, first) : first, ']')
}

/** A state consists of the number of items so far, and how many of them match `contains`. */
function containing(subject: Subject): Node {
  const { conversion, parts, lengths, path } = subject
  const goals = parts
    .filter((part) => has(part, 'contains'))
    .map((part) => {
      const { min, max } = lengthsOf([part], ['minContains', 'maxContains'], path)
      return { schema: part.contains, min: has(part, 'minContains') ? min : 1, max }
    })
  if (goals.length > 1) throw cannot(path, 'contains', 'it is used more than once')
  const [goal = { schema: true, min: 0, max: Infinity }] = goals
  const tuple = tupleLength(parts, path)
  const others = goal.max === Infinity ? true : { not: goal.schema }
  const known = new Map<string, Node>()
  function item(index: number, schema: unknown): Node {
    const key = `${Math.min(index, tuple)} ${schema === goal.schema}`
    const schemas = [...itemSchemas(parts, index, path), schema]
    const node = known.get(key) ?? conversion.visit(schemas, `${path}/contains`)
    known.set(key, node)
    return node
  }
  // Items are counted only up to these numbers, because higher counts make no difference.
  const lastLength = lengths.max === Infinity ? Math.max(lengths.min, tuple) : lengths.max
  const lastCount = goal.max === Infinity ? goal.min : goal.max
  return stepwise<{ length: number; count: number }>(subject, {
    keyword: 'contains',
    start: { length: 0, count: 0 },
    key: ({ length, count }) => `${length},${count}`,
    mayEnd: ({ length, count }) => length >= lengths.min && count >= goal.min,
    next({ length, count }) {
      if (length >= lengths.max) return []
      const after = Math.min(length + 1, lastLength)
      const other = { item: item(length, others), state: { length: after, count } }
      if (count >= lastCount) return [other]
      const match = { item: item(length, goal.schema), state: { length: after, count: count + 1 } }
      return [other, match]
    },
  })
}

/**
 * The maximum number of different values that may be in any order. If there are more, they must be in the order of the
 * schema.
 */
const maxFree = 6
const maxDifferent = 100

/**
 * A state consists of the number of items so far and the values that have been used. If any order is allowed, the used
 * values are stored as bits. Otherwise, the index after the last used value is stored.
 */
function uniqueItems(subject: Subject): Node {
  const { conversion, lengths, path } = subject
  const items = differentItems(subject).map(literal)
  if (lengths.min > items.length) {
    conversion.explain(
      path,
      'its minimum number of unique items is greater than the number of allowed values',
    )
    return nothing
  }
  const isFree = items.length <= maxFree
  return stepwise<{ used: number; count: number }>(subject, {
    keyword: 'uniqueItems',
    start: { used: 0, count: 0 },
    key: ({ used, count }) => `${used},${count}`,
    mayEnd: ({ count }) => count >= lengths.min,
    next({ used, count }) {
      if (count >= lengths.max) return []
      return items.flatMap((item, index) => {
        const isUsed = isFree ? ((used >> index) & 1) === 1 : index < used
        const after = isFree ? used | (1 << index) : index + 1
        // The number of items makes no difference once the minimum is reached, if the maximum cannot be exceeded.
        const isCounted = count < lengths.min || lengths.max < items.length
        return isUsed
          ? []
          : [{ item, state: { used: after, count: isCounted ? count + 1 : count } }]
      })
    },
  })
}

function differentItems({ conversion, parts, path }: Subject): unknown[] {
  const refuse = (reason: string) => cannot(path, 'uniqueItems', reason)
  if (tupleLength(parts, path) > 0) throw refuse('it is used with a tuple')
  if (parts.some((part) => has(part, 'contains'))) throw refuse('it is used with contains')
  const place = `${path}/items`
  const item = conversion.simplify(itemSchemas(parts, Infinity, path), place)
  const values = finiteValues(conversion, item, maxDifferent, place)
  if (values === undefined) {
    throw refuse(`the items must be limited to at most ${maxDifferent} possible values`)
  }
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()]
}
