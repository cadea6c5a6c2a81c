import type { Grammar } from './grammar.ts'
import { choice, type Node, repeat, sequence } from './node.ts'

/** More repetitions than this are split into groups (“chunks”), because llama.cpp refuses more than 2,000. */
const maxChunk = 250

/**
 * Repeats a part `min` to `max` times. `max` may be infinite. More than 250 repetitions are split into chunks, so that llama.cpp needs fewer rules. For example, {0,999}
 * becomes up to 31 chunks of 31 parts each, followed by up to 30 single parts, or 32 chunks followed by up to 7 single
 * parts. This takes about 70 rules instead of 999.
 */
export function counted(
  grammar: Grammar,
  given: Node,
  { min, max }: { min: number; max: number },
): Node {
  const part = given.kind === 'rule' ? given : grammar.add('part', given)
  const least = exactly(grammar, part, min)
  return sequence(least, max === Infinity ? repeat(part, 0) : atMost(grammar, part, max - min))
}

function exactly(grammar: Grammar, part: Node, times: number): Node {
  if (times <= maxChunk) return repeat(part, times, times)
  const { chunk, size, count } = chunks(grammar, part, times)
  return sequence(repeat(chunk, count, count), repeat(part, times % size, times % size))
}

function atMost(grammar: Grammar, part: Node, times: number): Node {
  if (times <= maxChunk) return repeat(part, 0, times)
  const { chunk, size, count } = chunks(grammar, part, times)
  return choice(
    sequence(repeat(chunk, 0, count - 1), repeat(part, 0, size - 1)),
    sequence(repeat(chunk, count, count), repeat(part, 0, times % size)),
  )
}

function chunks(grammar: Grammar, part: Node, times: number) {
  const size = Math.floor(Math.sqrt(times))
  const chunk = grammar.add('chunk', repeat(part, size, size))
  return { chunk, size, count: Math.floor(times / size) }
}
