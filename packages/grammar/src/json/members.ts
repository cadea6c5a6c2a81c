/** The members of an object, separated by commas. */

import { choice, empty, type Node, nothing, optional, repeat, sequence } from '../gbnf/node.ts'
import type { Lengths } from '../schema/schema.ts'
import { cannot } from '../schema/schema-error.ts'
import type { Conversion } from './conversion.ts'
import { continued, enclosed, ended, separated } from './json-text.ts'

export type Members = {
  needed: readonly Node[]
  optional: readonly Node[]
  /** Any member with another name; can be repeated with different names. Undefined if no other names are allowed. */
  others: Node | undefined
}

export function membersNode(
  conversion: Conversion,
  members: Members,
  { min, max }: Lengths,
  path: string,
): Node {
  const { needed, optional: possible, others } = members
  const [least, most] = [Math.max(0, min - needed.length), max - needed.length]
  const isCounted = least > 0 || (others ? most < Infinity : most < possible.length)
  if (isCounted) return countedMembers(conversion, members, { min: least, max: most }, path)
  return enclosed('{', anyMembers(conversion, members), '}')
}

/** The members without brackets. Any optional member may be omitted. */
export function anyMembers(
  { grammar }: Conversion,
  { needed, optional: possible, others }: Members,
): Node {
  // `members` matches one or more of the members from an index on. There is a rule for each index, because the size of
  // the grammar would otherwise grow quadratically with the number of properties. The comma is placed before the
  // alternatives to keep their number low.
  let members = others ? sequence(others, repeat(continued(others), 0)) : nothing
  for (const pair of possible.toReversed()) {
    members = grammar.add('members', choice(sequence(pair, optional(continued(members))), members))
  }
  if (needed.length === 0) return optional(ended(members))
  return ended(sequence(separated(needed), optional(continued(members))))
}

const maxStates = 10_000

/** From `min` to `max` members in addition to the required ones. */
function countedMembers(
  { grammar, explain }: Conversion,
  { needed, optional: possible, others }: Members,
  { min, max }: Lengths,
  path: string,
): Node {
  // The names of other members could be equal, so only one of them counts toward the minimum.
  if (others && possible.length + 1 < min) {
    throw cannot(path, 'minProperties', 'the names of additional properties could be repeated')
  }
  if (!others && possible.length < min) explain(path, 'it requires more properties than it allows')
  const highest = Math.min(max, Math.max(min, 1))
  const lastCount = max === Infinity ? highest : max
  if (possible.length * Math.min(lastCount, possible.length) > maxStates) {
    throw cannot(path, max === Infinity ? 'minProperties' : 'maxProperties', 'it is too large')
  }
  const known = new Map<string, Node>()
  /** The optional members from `index` on, after `count` optional members have been written. */
  function tail(index: number, count: number): Node {
    const key = `${index},${count}`
    const node = known.get(key) ?? grammar.add('tail', body(index, count))
    known.set(key, node)
    return node
  }
  function body(index: number, count: number): Node {
    const after = needed.length + count === 0 ? (pair: Node) => pair : continued
    const pair = possible[index]
    if (pair === undefined) return end(count, after)
    const next = tail(index + 1, Math.min(count + 1, lastCount))
    const without = tail(index + 1, count)
    return count >= max ? without : choice(sequence(after(pair), next), without)
  }
  function end(count: number, after: (pair: Node) => Node): Node {
    const missing = min - count
    const omitted = missing > 0 ? nothing : empty
    if (!others || missing > 1 || count >= max) return omitted
    return choice(omitted, sequence(after(others), repeat(continued(others), 0, max - count - 1)))
  }
  const all = tail(0, 0)
  if (needed.length > 0) return enclosed('{', ended(sequence(separated(needed), all)), '}')
  return enclosed('{', min > 0 ? ended(all) : choice(empty, ended(all)), '}')
}
