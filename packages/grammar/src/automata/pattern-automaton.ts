/** Builds automata from regular expressions. */
import {
  type Automaton,
  type Budget,
  build,
  emptyText,
  everyText,
  intersect,
  type Move,
  negate,
  noText,
  someText,
  spend,
  TooLarge,
} from './automaton.ts'
import { type Pattern, PatternError, parsePattern } from './pattern-parser.ts'

/** The cost of a Unicode property, which takes longer to look up than other sets of characters. */
const costOfProperty = 5000

/**
 * The strings that contain a match of a regular expression. Without anchors, the match may be anywhere in the string.
 */
export function patternAutomaton(budget: Budget, source: string): Automaton {
  spend(budget, (source.split(/\\p/i).length - 1) * costOfProperty)
  const { atStart, inside } = matches(budget, parsePattern(source), everywhere)
  return either(budget, atStart, chain(budget, someText, inside))
}

/**
 * The strings that may follow a position. They differ between the beginning of the string and all other positions,
 * because `^` matches only at the beginning.
 */
type Rest = { atStart: Automaton; inside: Automaton }
const everywhere: Rest = { atStart: everyText, inside: everyText }

/** The strings that begin with a match of the pattern and continue with `rest`. */
function matches(budget: Budget, pattern: Pattern, rest: Rest): Rest {
  if (isPlain(pattern)) return plain(budget, pattern, rest)
  switch (pattern.kind) {
    case 'start':
      return { atStart: rest.atStart, inside: noText }
    case 'end':
      return bothOf(budget, rest, { atStart: emptyText, inside: emptyText })
    case 'lookahead': {
      const { atStart, inside } = matches(budget, pattern.part, everywhere)
      if (!pattern.isNegative) return bothOf(budget, rest, { atStart, inside })
      const notInside = negate(budget, inside)
      const notAtStart = atStart === inside ? notInside : negate(budget, atStart)
      return bothOf(budget, rest, { atStart: notAtStart, inside: notInside })
    }
    case 'choice':
      return pattern.parts
        .map((part) => matches(budget, part, rest))
        .reduce((all, one) => eitherOf(budget, all, one))
    case 'sequence':
      return joinPlain(pattern.parts).reduceRight<Rest>(
        (after, part) => matches(budget, part, after),
        rest,
      )
    case 'repeat':
      return repeat(budget, pattern, rest)
    case 'chars':
      return plain(budget, pattern, rest)
  }
}

const maxCopies = 20

function repeat(budget: Budget, pattern: Pattern & { kind: 'repeat' }, rest: Rest): Rest {
  const { part, min, max } = pattern
  if (max > maxCopies)
    throw new PatternError(`it repeats an anchor or a lookahead more than ${maxCopies} times`)
  let all = rest
  for (let copy = max; copy > 0; copy -= 1) {
    const more = matches(budget, part, all)
    all = copy > min ? eitherOf(budget, more, rest) : more
  }
  return all
}

/** Joins adjacent parts that are plain, so that they are added in one step. */
function joinPlain(parts: readonly Pattern[]): Pattern[] {
  const groups: Pattern[][] = []
  for (const part of parts) {
    const last = groups.at(-1)
    const neighbor = last?.at(-1)
    if (neighbor && isPlain(neighbor) && isPlain(part)) last?.push(part)
    else groups.push([part])
  }
  return groups.map((group) =>
    group.length === 1 ? (group[0] as Pattern) : { kind: 'sequence', parts: group },
  )
}

/** Whether a pattern has neither anchors nor lookaheads. */
function isPlain(pattern: Pattern): boolean {
  switch (pattern.kind) {
    case 'chars':
      return true
    case 'repeat':
      return isPlain(pattern.part)
    case 'sequence':
    case 'choice':
      return pattern.parts.every(isPlain)
    default:
      return false
  }
}

function plain(budget: Budget, pattern: Pattern, rest: Rest): Rest {
  const inside = chain(budget, pattern, rest.inside)
  if (rest.atStart === rest.inside) return { atStart: inside, inside }
  // After at least one character, the position is no longer the beginning of the text.
  const own = chain(budget, pattern, emptyText)
  const some = chain(budget, intersect(budget, own, someText), rest.inside)
  return { atStart: own[0]?.accepts ? either(budget, some, rest.atStart) : some, inside }
}

const eitherOf = (budget: Budget, a: Rest, b: Rest): Rest => join(either, budget, a, b)

const bothOf = (budget: Budget, a: Rest, b: Rest): Rest => join(intersect, budget, a, b)

/**
 * Combines the automata for both positions. If the position makes no difference, only one automaton is built, which
 * takes half the time.
 */
function join(combine: typeof intersect, budget: Budget, a: Rest, b: Rest): Rest {
  const inside = combine(budget, a.inside, b.inside)
  const isSame = a.atStart === a.inside && b.atStart === b.inside
  return { atStart: isSame ? inside : combine(budget, a.atStart, b.atStart), inside }
}

/** The strings that at least one of the two automata accepts. */
export function either(budget: Budget, a: Automaton, b: Automaton): Automaton {
  if (a === b || b === noText) return a
  if (a === noText) return b
  const nodes: Nodes = { all: [], budget }
  const starts = [embed(nodes, a), embed(nodes, b)]
  return determinize(budget, nodes.all, starts)
}

/** The strings that consist of a match of `first` followed by a match of `second`. */
export function chain(budget: Budget, first: Pattern | Automaton, second: Automaton): Automaton {
  if (second === noText || first === emptyText) return second
  const nodes: Nodes = { all: [], budget }
  const next = embed(nodes, second)
  const start = 'kind' in first ? add(nodes, first, next) : embed(nodes, first, next)
  return determinize(budget, nodes.all, [start])
}

/** A state of a nondeterministic automaton. `free` lists the states that are reached without consuming a character. */
type Node = { accepts: boolean; moves: readonly Move[]; free: number[] }
type Nodes = { all: Node[]; budget: Budget }
/** The maximum number of nodes. Quantifiers are expanded, so each repetition adds nodes. */
const maxNodes = 20_000

function push({ all, budget }: Nodes, node: Partial<Node>): number {
  if (all.length >= maxNodes) throw new TooLarge('it needs too many states')
  spend(budget, (node.moves?.length ?? 0) >> 3)
  return all.push({ accepts: false, moves: [], free: [], ...node }) - 1
}

/**
 * Adds the states of an automaton. If `next` is given, the accepting states continue there instead of accepting.
 * Returns the start state.
 */
function embed(nodes: Nodes, automaton: Automaton, next?: number): number {
  const first = nodes.all.length
  for (const { accepts, moves } of automaton) {
    push(nodes, {
      accepts: accepts && next === undefined,
      moves: moves.map((move) => ({ ...move, target: move.target + first })),
      free: accepts && next !== undefined ? [next] : [],
    })
  }
  return first
}

/** Adds the states of a plain pattern that continues at the state `next`. Returns its start state. */
function add(nodes: Nodes, pattern: Pattern, next: number): number {
  switch (pattern.kind) {
    case 'chars':
      return push(nodes, { moves: pattern.set.map(([from, to]) => ({ from, to, target: next })) })
    case 'sequence':
      return pattern.parts.reduceRight((after, part) => add(nodes, part, after), next)
    case 'choice':
      return push(nodes, { free: pattern.parts.map((part) => add(nodes, part, next)) })
    case 'repeat':
      return addRepeat(nodes, pattern, next)
    default:
      throw new Error(`a plain pattern contains ${pattern.kind}`)
  }
}

function addRepeat(nodes: Nodes, pattern: Pattern & { kind: 'repeat' }, next: number): number {
  const { part, min, max } = pattern
  let start = next
  if (max === Infinity) {
    start = push(nodes, { free: [next] })
    nodes.all[start]?.free.push(add(nodes, part, start))
  }
  // A node is added for each copy even if the part is empty, so that `maxNodes` limits the number of copies.
  for (let copy = min; max < Infinity && copy < max; copy += 1) {
    start = push(nodes, { free: [next, add(nodes, part, start)] })
  }
  for (let copy = 0; copy < min; copy += 1) start = push(nodes, { free: [add(nodes, part, start)] })
  return start
}

function determinize(budget: Budget, nodes: readonly Node[], starts: readonly number[]): Automaton {
  return build<readonly number[]>(budget, {
    start: closure(nodes, starts),
    key: (set) => set.join(),
    accepts: (set) => set.some((node) => nodes[node]?.accepts),
    moves: (set) => {
      spend(budget, set.length >> 3)
      const moves = set.flatMap((node) => nodes[node]?.moves ?? [])
      return disjoint(moves).map(({ from, to, targets }) => ({
        from,
        to,
        target: closure(nodes, targets),
      }))
    },
  })
}

/**
 * The nodes that can be reached without consuming a character. Nodes that neither accept nor have moves are omitted,
 * because they make no difference.
 */
function closure(nodes: readonly Node[], starts: readonly number[]): number[] {
  const all = new Set(starts)
  for (const node of all) for (const next of nodes[node]?.free ?? []) all.add(next)
  const matters = (node: number) => nodes[node]?.accepts || nodes[node]?.moves.length !== 0
  return [...all].filter(matters).sort((a, b) => a - b)
}

/** Splits ranges that overlap. */
function disjoint(moves: readonly Move[]): { from: number; to: number; targets: number[] }[] {
  const edges = [...new Set(moves.flatMap(({ from, to }) => [from, to + 1]))].sort((a, b) => a - b)
  const sorted = moves.toSorted((a, b) => a.from - b.from)
  const parts: { from: number; to: number; targets: number[] }[] = []
  let open: Move[] = []
  let next = 0
  for (const [index, from] of edges.slice(0, -1).entries()) {
    open = open.filter(({ to }) => to >= from)
    for (; sorted[next]?.from === from; next += 1) open.push(sorted[next] as Move)
    if (open.length === 0) continue
    const targets = [...new Set(open.map(({ target }) => target))]
    parts.push({ from, to: (edges[index + 1] as number) - 1, targets })
  }
  return parts
}
