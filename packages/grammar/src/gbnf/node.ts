/** The parts of grammars. */
import { type CharSet, charsOf } from '../automata/char-set.ts'

export type Node =
  | { kind: 'text'; text: string }
  | { kind: 'chars'; set: CharSet }
  | { kind: 'rule'; name: string }
  /** A choice without parts matches nothing, and an empty sequence matches the empty string. */
  | { kind: 'sequence' | 'choice'; parts: readonly Node[] }
  | { kind: 'repeat'; part: Node; min: number; max: number }

export const text = (value: string): Node => ({ kind: 'text', text: value })
export const chars = (set: CharSet | string): Node => ({
  kind: 'chars',
  set: typeof set === 'string' ? charsOf(set) : set,
})
export const rule = (name: string): Node => ({ kind: 'rule', name })
export const sequence = (...parts: readonly Node[]): Node => {
  const flat = parts.flatMap((part) => (part.kind === 'sequence' ? part.parts : [part]))
  return flat.length === 1 ? (flat[0] as Node) : { kind: 'sequence', parts: flat }
}
export const choice = (...parts: readonly Node[]): Node =>
  parts.length === 1 ? (parts[0] as Node) : { kind: 'choice', parts }
export const repeat = (part: Node, min: number, max = Infinity): Node => {
  if (max === 0 || part === empty) return empty
  return min === 1 && max === 1 ? part : { kind: 'repeat', part, min, max }
}
export const optional = (part: Node): Node => repeat(part, 0, 1)
export const nothing: Node = choice()
export const empty: Node = sequence()
