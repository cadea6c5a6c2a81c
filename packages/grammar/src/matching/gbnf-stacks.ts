/** Matches text against a grammar as the text arrives. Like llama.cpp, keeps track of all possible stacks of parts. */
import { type Gbnf, isIn, type Part } from './gbnf-parser.ts'

/**
 * The parts that must still be matched; undefined if there are none. Equal stacks are represented by the same object.
 */
export type Stack = { part: Part; next: Stack } | undefined

export type Stacks = {
  /** Matches more text. Returns false if the grammar does not allow the text. */
  take(text: string): boolean
  /** Returns the stacks after the text so far. Each is undefined or begins with a character class. */
  read(): readonly Stack[]
}

export function openStacks(grammar: Gbnf): Stacks {
  const expand = expander(grammar)
  let stacks = expand({ part: { kind: 'rule', name: 'root' }, next: undefined })
  return {
    read: () => stacks,
    take(text) {
      for (const char of text) {
        const code = char.codePointAt(0) as number
        const after = stacks.flatMap((stack) =>
          stack?.part.kind === 'chars' && isIn(stack.part, code) ? [expand(stack.next)] : [],
        )
        // Several stacks often expand to the same stacks, so duplicates are removed.
        stacks = after.length === 1 ? (after[0] ?? []) : [...new Set(after.flat())]
        if (stacks.length === 0) return false
      }
      return true
    },
  }
}

/**
 * Returns a function that expands a stack to all resulting stacks that begin with a character class. Results are
 * cached, because the same stacks recur.
 */
function expander(grammar: Gbnf): (stack: Stack) => readonly Stack[] {
  const expanded = new Map<Stack, readonly Stack[]>()
  const pushed = new Map<Stack, Map<Part, Stack>>()
  const rests = new Map<Part, Part>()

  function push(part: Part, next: Stack): Stack {
    const known = pushed.get(next) ?? new Map<Part, Stack>()
    pushed.set(next, known)
    const stack = known.get(part) ?? { part, next }
    known.set(part, stack)
    return stack
  }

  /** The repetition that remains after its part has matched once. */
  function restOf(part: Part & { kind: 'repeat' }): Part {
    if (part.min === 0 && part.max === Infinity) return part
    const rest = rests.get(part) ?? {
      ...part,
      min: Math.max(0, part.min - 1),
      max: part.max - 1,
    }
    rests.set(part, rest)
    return rest
  }

  function open(part: Part, next: Stack): Stack[] {
    switch (part.kind) {
      case 'chars':
        return []
      case 'rule':
        return [push(grammar.get(part.name) as Part, next)]
      case 'choice':
        return part.ways.map((way) => way.reduceRight<Stack>((rest, one) => push(one, rest), next))
      case 'repeat': {
        const rest = part.max > 1 ? push(restOf(part), next) : next
        return [...(part.min === 0 ? [next] : []), push(part.part, rest)]
      }
    }
  }

  function expand(first: Stack): readonly Stack[] {
    const known = expanded.get(first)
    if (known) return known
    const seen = new Set<Stack>([first])
    for (const stack of seen) {
      if (stack === undefined) continue
      for (const opened of open(stack.part, stack.next)) seen.add(opened)
    }
    const ready = [...seen].filter((stack) => stack === undefined || stack.part.kind === 'chars')
    expanded.set(first, ready)
    return ready
  }

  return expand
}
