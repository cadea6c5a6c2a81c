/** Counts the alternatives that are possible at the same time. */
import type { Node } from './node.ts'

/**
 * The maximum number of alternatives that are possible at the same time. llama.cpp compares each alternative with each
 * token and with every other alternative. With 2,000 alternatives, this takes about 10 ms per token, during which all
 * other requests wait.
 */
export const maxAlternatives = 2000

/** How a part of a grammar may begin: `ways` is the number of strings and character sets. */
type Beginning = { ways: number; mayBeEmpty: boolean }

const counted = { ways: 1, mayBeEmpty: false }
const unknown = { ways: 0, mayBeEmpty: false }

/** Whether there is a place in the rules where more than `maxAlternatives` alternatives are possible. */
export function hasTooManyAlternatives(rules: ReadonlyMap<string, Node>): boolean {
  const known = new Map<string, Beginning>()
  let highest = 0

  function beginning(node: Node): Beginning {
    switch (node.kind) {
      case 'text':
      case 'chars':
        return counted
      case 'rule':
        return known.get(node.name) ?? unknown
      case 'repeat': {
        const { ways, mayBeEmpty } = beginning(node.part)
        return { ways, mayBeEmpty: mayBeEmpty || node.min === 0 }
      }
      case 'choice': {
        const all = node.parts.map(beginning)
        const mayBeEmpty = all.some((part) => part.mayBeEmpty)
        return note({ ways: all.reduce((sum, { ways }) => sum + ways, 0), mayBeEmpty })
      }
      case 'sequence':
        return node.parts.map(beginning).reduceRight(before, { ways: 0, mayBeEmpty: true })
    }
  }

  function before(rest: Beginning, { ways, mayBeEmpty }: Beginning): Beginning {
    return mayBeEmpty ? note({ ...rest, ways: ways + rest.ways }) : { ways, mayBeEmpty }
  }

  function note(found: Beginning): Beginning {
    highest = Math.max(highest, found.ways)
    return found
  }

  // A rule usually comes before the rules to which it refers, so the rules are visited in reverse order. The loop ends,
  // because the numbers only grow.
  const all = [...rules].reverse()
  for (let hasChanged = true; hasChanged && highest <= maxAlternatives; ) {
    hasChanged = false
    for (const [name, body] of all) {
      const [old, found] = [known.get(name) ?? unknown, beginning(body)]
      if (old.ways === found.ways && old.mayBeEmpty === found.mayBeEmpty) continue
      known.set(name, found)
      hasChanged = true
    }
  }
  return highest > maxAlternatives
}
