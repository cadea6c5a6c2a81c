/**
 * Generates strings from a grammar, and checks whether a grammar matches a string. This is much faster than running a
 * model, and also covers strings that a model would rarely generate.
 */
import { type Chars, type Gbnf, isIn, type Part } from '../matching/gbnf-parser.ts'
import { openStacks } from '../matching/gbnf-stacks.ts'

/** Whether the grammar allows the text. */
export function matchesGbnf(grammar: Gbnf, text: string): boolean {
  const stacks = openStacks(grammar)
  return stacks.take(text) && stacks.read().includes(undefined)
}

/** Returns a random number generator (Mulberry32). For the same seed, it returns the same numbers between 0 and 1. */
export function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * Returns a function that generates random strings. Beyond a certain depth or length, the function chooses the
 * alternatives that end soonest.
 */
export function textGenerator(grammar: Gbnf, random: () => number): () => string {
  const heights = measure(grammar)
  const maxDepth = 60
  const maxLength = 5000
  let length = 0
  const pick = (count: number) => Math.floor(random() * count)
  const heightOf = (way: readonly Part[]) =>
    Math.max(0, ...way.map((part) => height(part, heights)))

  const isEnding = (depth: number) => depth > maxDepth || length > maxLength

  function write(part: Part, depth: number): string {
    switch (part.kind) {
      case 'chars':
        length += 1
        return String.fromCodePoint(pickChar(part, random))
      case 'rule':
        return write(grammar.get(part.name) as Part, depth + 1)
      case 'choice': {
        const lowest = Math.min(...part.ways.map(heightOf))
        const ways = part.ways.filter((way) =>
          isEnding(depth) ? heightOf(way) === lowest : heightOf(way) < Infinity,
        )
        return (ways[pick(ways.length)] as Part[]).map((one) => write(one, depth + 1)).join('')
      }
      case 'repeat': {
        const isPossible = height(part.part, heights) < Infinity && !isEnding(depth)
        const more = isPossible ? Math.min(part.max - part.min, random() < 0.1 ? 40 : 4) : 0
        const count = part.min + pick(more + 1)
        return Array.from({ length: count }, () => write(part.part, depth + 1)).join('')
      }
    }
  }
  return () => {
    length = 0
    return write({ kind: 'rule', name: 'root' }, 0)
  }
}

/** For each rule, the minimum depth of nested rules in a text that matches it. */
function measure(grammar: Gbnf): Map<string, number> {
  const heights = new Map<string, number>()
  for (let hasChanged = true; hasChanged; ) {
    hasChanged = false
    for (const [name, part] of grammar) {
      const own = 1 + height(part, heights)
      if (own < (heights.get(name) ?? Infinity)) {
        heights.set(name, own)
        hasChanged = true
      }
    }
  }
  return heights
}

function height(part: Part, heights: ReadonlyMap<string, number>): number {
  switch (part.kind) {
    case 'chars':
      return 0
    case 'rule':
      return heights.get(part.name) ?? Infinity
    case 'choice':
      return Math.min(
        ...part.ways.map((way) => Math.max(0, ...way.map((one) => height(one, heights)))),
      )
    case 'repeat':
      return part.min === 0 ? 0 : height(part.part, heights)
  }
}

function pickChar(part: Chars, random: () => number): number {
  const { ranges, isNegated } = part
  const from = (all: readonly (readonly [number, number])[]) => {
    const [low, high] = all[Math.floor(random() * all.length)] as readonly [number, number]
    return low + Math.floor(random() * (high - low + 1))
  }
  const usual = [
    [0x20, 0x7e],
    [0x20, 0x7e],
    [0xa0, 0x17f],
    [0x4e00, 0x9fff],
    [0x1f300, 0x1f64f],
  ] as const
  for (let tries = 0; isNegated && tries < 1000; tries += 1) {
    const code = from(usual)
    if (isIn(part, code)) return code
  }
  if (isNegated) throw new Error('a negated class without usual characters')
  return from(ranges)
}
