/** Finite automata over characters. Patterns, formats, number ranges and property names become automata. */
import { complement, everyChar, type Range, union } from './char-set.ts'

export type Move = { from: number; to: number; target: number }
/** The moves are sorted, and their ranges are disjoint. A character without a move is rejected. */
export type State = { accepts: boolean; moves: readonly Move[] }
/** A deterministic and minimal automaton. The first state is the start. */
export type Automaton = readonly State[]

/** The remaining amount of work that a conversion may do, in states and moves. */
export type Budget = { left: number }

/** The maximum number of states in one automaton. Limited because each state becomes a part of the grammar. */
const maxStates = 4000

/** Thrown if an automaton, such as that for a pattern, a range or a list, would be too large. */
export class TooLarge extends Error {
  override name = 'TooLarge'
}

/** Describes a deterministic automaton that is to be built. Its states are values of any type. */
type Plan<S> = {
  start: S
  /** Equal states have equal keys. */
  key: (state: S) => string
  accepts: (state: S) => boolean
  /** Returns the moves from a state, sorted, with disjoint ranges. */
  moves: (state: S) => { from: number; to: number; target: S }[]
}

/** Builds the states that can be reached, and minimizes the automaton. */
export function build<S>(budget: Budget, plan: Plan<S>): Automaton {
  const numbers = new Map([[plan.key(plan.start), 0]])
  const found = [plan.start]
  const states: State[] = []
  for (const state of found) {
    const moves = plan.moves(state).map(({ from, to, target }) => {
      const key = plan.key(target)
      const number = numbers.get(key) ?? found.push(target) - 1
      numbers.set(key, number)
      return { from, to, target: number }
    })
    spend(budget, 1 + moves.length)
    if (found.length > maxStates) throw new TooLarge('it needs too many states')
    states.push({ accepts: plan.accepts(state), moves })
  }
  return minimize(withoutDeadEnds(states))
}

export function spend(budget: Budget, amount: number) {
  budget.left -= amount
  if (budget.left < 0) throw new TooLarge('the whole schema takes too many steps to convert')
}

/** Removes states from which no accepting state can be reached, except for the start state. */
function withoutDeadEnds(states: Automaton): Automaton {
  const sources = sourcesOf(states)
  const alive = new Set(states.flatMap(({ accepts }, index) => (accepts ? [index] : [])))
  for (const state of alive) for (const source of sources[state] ?? []) alive.add(source)
  const kept = [0, ...[...alive].filter((state) => state !== 0).sort((a, b) => a - b)]
  const numbers = new Map(kept.map((state, index) => [state, index]))
  return kept.map((index) => {
    const { accepts, moves } = states[index] as State
    const living = moves.filter(({ target }) => alive.has(target))
    return {
      accepts,
      moves: living.map((move) => ({ ...move, target: numbers.get(move.target) as number })),
    }
  })
}

function sourcesOf(states: Automaton): number[][] {
  const sources: number[][] = states.map(() => [])
  for (const [index, { moves }] of states.entries()) {
    for (const { target } of moves) sources[target]?.push(index)
  }
  return sources
}

/**
 * Merges states that accept the same strings. At first, all accepting states are in one class and all others in
 * another. Classes are split until all states of a class have moves to the same classes. After a split, only states
 * with a move to a state whose class has changed are compared again.
 */
function minimize(states: Automaton): Automaton {
  const sources = sourcesOf(states)
  const classes = states.map(({ accepts }) => Number(accepts))
  const sizes = [0, 1].map((number) => classes.filter((one) => one === number).length)
  let changed = new Set(states.keys())
  while (changed.size > 0) {
    const moved: number[] = []
    for (const [number, members] of Map.groupBy(changed, (index) => classes[index] as number)) {
      const parts = Map.groupBy(members, (index) => signature(states[index] as State, classes))
      const bySize = [...parts.values()].sort((a, b) => b.length - a.length)
      const hasOthers = members.length < (sizes[number] as number)
      for (const part of hasOthers ? bySize : bySize.slice(1)) {
        sizes[number] = (sizes[number] as number) - part.length
        const next = sizes.push(part.length) - 1
        for (const index of part) classes[index] = next
        moved.push(...part)
      }
    }
    changed = new Set(moved.flatMap((index) => sources[index] as number[]))
  }
  return merge(states, classes)
}

function signature({ moves }: State, classes: readonly number[]): string {
  return toClasses(moves, (target) => classes[target] as number)
    .map(({ from, to, target }) => `${from}-${to}:${target}`)
    .join()
}

function merge(states: Automaton, classes: readonly number[]): Automaton {
  const firstOf = new Map(classes.map((one, index) => [one, index] as const).toReversed())
  const order = [...new Set(classes)]
  const numbers = new Map(order.map((one, index) => [one, index]))
  return order.map((one) => {
    const { accepts, moves } = states[firstOf.get(one) as number] as State
    return {
      accepts,
      moves: toClasses(moves, (target) => numbers.get(classes[target] as number) as number),
    }
  })
}

/**
 * Replaces the target of each move with the target's class, and joins adjacent ranges that then have the same target.
 */
function toClasses(moves: readonly Move[], classOf: (target: number) => number): Move[] {
  const joined: Move[] = []
  for (const { from, to, target } of moves) {
    const last = joined.at(-1)
    const number = classOf(target)
    if (last && last.target === number && last.to + 1 === from) last.to = to
    else joined.push({ from, to, target: number })
  }
  return joined
}

/** The strings that both automata accept. */
export function intersect(budget: Budget, a: Automaton, b: Automaton): Automaton {
  if (a === everyText || b === noText) return b
  if (b === everyText || a === noText) return a
  return build<readonly [number, number]>(budget, {
    start: [0, 0],
    key: (pair) => pair.join(),
    accepts: ([one, other]) => Boolean(a[one]?.accepts && b[other]?.accepts),
    moves: ([one, other]) => sharedMoves(a[one]?.moves ?? [], b[other]?.moves ?? []),
  })
}

function sharedMoves(left: readonly Move[], right: readonly Move[]) {
  const shared: { from: number; to: number; target: [number, number] }[] = []
  for (let i = 0, j = 0; i < left.length && j < right.length; ) {
    const [one, other] = [left[i] as Move, right[j] as Move]
    const [from, to] = [Math.max(one.from, other.from), Math.min(one.to, other.to)]
    if (from <= to) shared.push({ from, to, target: [one.target, other.target] })
    if (one.to < other.to) i += 1
    else j += 1
  }
  return shared
}

/** The strings that an automaton does not accept. */
export function negate(budget: Budget, automaton: Automaton): Automaton {
  const sink = automaton.length
  return build(budget, {
    start: 0,
    key: String,
    accepts: (state) => !automaton[state]?.accepts,
    moves: (state) => {
      const moves = automaton[state]?.moves ?? []
      const rest = complement(union(moves.map(({ from, to }): Range => [from, to])))
      const others = rest.map(([from, to]) => ({ from, to, target: sink }))
      return [...moves, ...others].sort((a, b) => a.from - b.from)
    },
  })
}

/** The strings of `min` to `max` characters that an automaton accepts. */
export function ofLength(
  budget: Budget,
  automaton: Automaton,
  min: number,
  max: number,
): Automaton {
  const last = max === Infinity ? min : max
  return build<readonly [number, number]>(budget, {
    start: [0, 0],
    key: (pair) => pair.join(),
    accepts: ([state, length]) => Boolean(automaton[state]?.accepts) && length >= min,
    moves: ([state, length]) =>
      length >= max
        ? []
        : (automaton[state]?.moves ?? []).map(({ from, to, target }) => ({
            from,
            to,
            target: [target, Math.min(length + 1, last)] as const,
          })),
  })
}

/**
 * Returns an automaton that accepts exactly the given strings. The strings are added in sorted order, and equal states
 * are merged immediately (Daciuk et al., 2000).
 */
export function listedTexts(budget: Budget, texts: readonly string[]): Automaton {
  type Open = { accepts: boolean; moves: [char: number, target: number][] }
  const numbers = new Map<string, number>()
  const states: State[] = []
  /** Adds a state, unless there is an equal one. Returns its number. */
  function close({ accepts, moves }: Open): number {
    const key = `${accepts} ${moves.join(' ')}`
    const number = numbers.get(key) ?? states.length
    if (number < states.length) return number
    spend(budget, 1 + moves.length)
    if (number >= maxStates) throw new TooLarge('it needs too many states')
    const sorted = moves.toSorted(([a], [b]) => a - b)
    states.push({ accepts, moves: sorted.map(([char, target]) => move(char, target)) })
    numbers.set(key, number)
    return number
  }
  const move = (char: number, target: number): Move => ({ from: char, to: char, target })

  /**
   * The open states along the most recent string. The move from each state to the next one is added when the next one
   * is closed.
   */
  const path: Open[] = [{ accepts: false, moves: [] }]
  let last: number[] = []
  function closeAfter(length: number) {
    while (path.length > length + 1) {
      const target = close(path.pop() as Open)
      path.at(-1)?.moves.push([last[path.length - 1] as number, target])
    }
  }
  // Strings with a lone surrogate are skipped, because no generated text contains one.
  for (const text of [...new Set(texts)].filter((one) => one.isWellFormed()).sort()) {
    spend(budget, text.length >> 4)
    const chars = Array.from(text, (char) => char.codePointAt(0) as number)
    const shared = chars.findIndex((char, index) => char !== last[index])
    closeAfter(shared === -1 ? chars.length : shared)
    last = chars
    while (path.length <= chars.length) path.push({ accepts: false, moves: [] })
    ;(path.at(-1) as Open).accepts = true
  }
  closeAfter(0)
  close(path[0] as Open)
  return reversed(states)
}

/** Reverses the order of the states. The last one becomes the first, which is the start. */
function reversed(states: readonly State[]): Automaton {
  const last = states.length - 1
  return states
    .map(({ accepts, moves }) => ({
      accepts,
      moves: moves.map((move) => ({ ...move, target: last - move.target })),
    }))
    .toReversed()
}

export function accepts(automaton: Automaton, text: string): boolean {
  let state = automaton[0]
  for (const char of text) {
    const code = char.codePointAt(0) as number
    const move = state?.moves.find(({ from, to }) => from <= code && code <= to)
    if (move === undefined) return false
    state = automaton[move.target]
  }
  return Boolean(state?.accepts)
}

export const isEmpty = (automaton: Automaton): boolean => !automaton.some((state) => state.accepts)

const anyChar = (target: number): Move[] => everyChar.map(([from, to]) => ({ from, to, target }))

export const everyText: Automaton = [{ accepts: true, moves: anyChar(0) }]
/** Accepts every string except the empty one. */
export const someText: Automaton = [
  { accepts: false, moves: anyChar(1) },
  { accepts: true, moves: anyChar(1) },
]
export const emptyText: Automaton = [{ accepts: true, moves: [] }]
export const noText: Automaton = [{ accepts: false, moves: [] }]
