/**
 * Converts JSON schemas to grammars in GBNF, llama.cpp's grammar format, so that a model can generate only valid
 * values. If no grammar can enforce a keyword of the schema, the schema is rejected with an error that contains the
 * keyword. Whitespace is allowed where models usually write it. Whitespace after the value is not allowed, because a
 * model could generate it forever.
 */

import { type Budget, spend, TooLarge } from '../automata/automaton.ts'
import { createGrammar, type ReservedRule } from '../gbnf/grammar.ts'
import { choice, type Node, nothing } from '../gbnf/node.ts'
import { allOf, both, type Choice, type Conjunction, simplify } from '../schema/conjunction.ts'
import { containment } from '../schema/containment.ts'
import { at, SchemaError } from '../schema/schema-error.ts'
import { choiceOptions } from './choice-options.ts'
import type { Conversion } from './conversion.ts'
import { isImpossible } from './exclusion.ts'
import { basics } from './json-text.ts'
import { plainValues } from './plain-values.ts'

/** The maximum amount of work for one conversion. It limits the time to about a second. */
const maxWork = 300_000
const costOfValue = 20
const maxDepth = 100

/** Converts a schema to a grammar. Throws a `SchemaError` that contains the keyword if a keyword cannot be enforced. */
export const jsonGrammar = (schema: object): string =>
  makeGrammar(schema, ({ visit }) => visit([schema], ''))

/**
 * Creates the grammar whose root is returned by `write`. References in schemas are looked up in `references`. Throws a
 * `SchemaError` that contains the keyword if a keyword cannot be enforced.
 */
export function makeGrammar(
  references: object,
  write: (conversion: Conversion) => Node,
  rules: Record<string, Node> = basics,
): string {
  try {
    return convert(references, write, rules)
  } catch (error) {
    // V8 throws a `RangeError` on a stack overflow.
    if (error instanceof RangeError)
      throw new SchemaError('it is nested too deeply', { cause: error })
    if (!(error instanceof TooLarge)) throw error
    throw new SchemaError('it is too large', { cause: error })
  }
}

function convert(
  root: object,
  write: (conversion: Conversion) => Node,
  rules: Record<string, Node>,
): string {
  const budget: Budget = { left: maxWork }
  const grammar = createGrammar(rules)
  let reason: string | undefined
  const conversion: Conversion = {
    grammar,
    budget,
    patterns: new Map(),
    simplify: (schemas, path) => allOf(schemas.map((schema) => simplifyOnce(schema, path))),
    isWithin: containment(root),
    visit: (schemas, path) => value(conversion.simplify(schemas, path), path, []),
    explain(path, why) {
      reason ??= path === '' ? why : `${at(path)}: ${why}`
    },
  }
  const optionsOf = choiceOptions(conversion)
  const plain = plainValues(conversion)
  const keyOf = keys()
  const simplified = new Map<unknown, Conjunction>()
  const known = new Map<string, Node>()
  const running = new Map<string, ReservedRule | undefined>()

  function simplifyOnce(schema: unknown, path: string): Conjunction {
    const simple = simplified.get(schema) ?? simplify(root, schema, path)
    simplified.set(schema, simple)
    return simple
  }

  /**
   * Returns the grammar of a value that must match a conjunction. `outer` contains the keys of the choices that have
   * this value as an alternative. It is used to detect a schema that is an alternative of itself. Values with the same
   * schemas share a rule.
   */
  function value(all: Conjunction, path: string, outer: readonly string[]): Node {
    const key = keyOf(all)
    const done = known.get(key)
    if (done) return done
    if (outer.includes(key)) throw new SchemaError(`${at(path)} refers to itself endlessly`)
    if (running.has(key)) return ruleOf(key).node
    if (running.size >= maxDepth) {
      throw new SchemaError(`${at(path)} is nested more than ${maxDepth} levels deep`)
    }
    spend(budget, costOfValue)
    running.set(key, undefined)
    const isChoice = all.choices.length > 0
    const body = isChoice ? alternatives(all, path, [...outer, key]) : plain(all.parts, path)
    const isRecursive = running.get(key) !== undefined
    const node = body.kind === 'rule' && !isRecursive ? body : ruleOf(key).node
    if (node !== body) ruleOf(key).set(body)
    running.delete(key)
    known.set(key, node)
    return node
  }

  function ruleOf(key: string): ReservedRule {
    const reserved = running.get(key) ?? grammar.reserve('value')
    running.set(key, reserved)
    return reserved
  }

  function alternatives(all: Conjunction, path: string, outer: readonly string[]): Node {
    const [first, ...rest] = all.choices as [Choice, ...Choice[]]
    const base = { parts: all.parts, choices: rest }
    const ways = optionsOf(first, base, path).map((option, index) => {
      const place = `${path}/${first.places[index]}`
      const narrowed = both(base, option)
      if (!isImpossible(conversion, narrowed.parts, place)) return value(narrowed, place, outer)
      conversion.explain(place, 'its parts have no value in common')
      return nothing
    })
    return choice(...ways)
  }

  const text = grammar.print(write(conversion))
  if (text === undefined) throw new SchemaError(reason ?? 'no value matches it')
  return text
}

/** Returns a function that computes a key for a conjunction. Conjunctions of the same schemas have the same key. */
function keys() {
  const numbers = new Map<object, number>()
  const numberOf = (one: object) => {
    const number = numbers.get(one) ?? numbers.size
    numbers.set(one, number)
    return number
  }
  const sorted = (all: readonly object[]) => all.map(numberOf).sort((a, b) => a - b)
  return ({ parts, choices }: Conjunction) => `${sorted(parts).join()};${sorted(choices).join()}`
}
