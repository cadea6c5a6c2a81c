import type { Import } from './read-imports.ts'
import { arrow, type Table } from './table.ts'

/**
 * Returns complaints about imports: arrows that are missing from the table, rows that no import needs, and cycles. An
 * arrow is the import of one folder from another.
 */
export function checkArrows(imports: readonly Import[], allowed: Table): string[] {
  const files = makeGraph(imports)
  const arrows = imports
    .flatMap(listArrows)
    // Tests may import everything that their package may import.
    .filter(
      ({ from, to }) => !from.endsWith(tests) || !allowed.has(arrow(from.replace(tests, ''), to)),
    )
  const rows = arrows.filter(({ isInTable }) => isInTable)
  const found = new Set(rows.map(({ from, to }) => arrow(from, to)))
  const example = (name: string) => {
    const of = arrows.find(({ from, to }) => arrow(from, to) === name)?.of
    return of ? `${of.from} imports ${of.to}` : 'no such import'
  }

  const complaints: string[] = []
  for (const name of found) {
    if (!allowed.has(name)) complaints.push(`not in arrows.txt: ${name} (${example(name)})`)
  }
  for (const name of allowed) {
    if (!found.has(name)) complaints.push(`no longer needed in arrows.txt: ${name}`)
  }
  for (const circle of findCycles(makeGraph(arrows))) {
    const steps = circle.slice(1).map((to, at) => `  ${example(arrow(circle[at] ?? '', to))}`)
    complaints.push([`cycle: ${circle.join(' → ')}`, ...steps].join('\n'))
  }
  for (const circle of findCycles(files)) complaints.push(`cycle of files: ${circle.join(' → ')}`)
  return complaints
}

type Arrow = Import & {
  /**
   * Whether the arrow needs a row in the table. An arrow from or to a file next to the folders needs no row: it is
   * allowed unless it creates a cycle.
   */
  isInTable: boolean
  of: Import
}

const tests = ' tests'
const isTest = (path: string) => /\.(test|contract)\.tsx?$|.\/testing\//.test(path)

function listArrows(of: Import): Arrow[] {
  const { from, to } = of
  const [here, there] = [getPackage(from), getPackage(to)]
  if (here !== there) {
    return [{ from: isTest(from) ? here + tests : here, to: there, isInTable: true, of }]
  }
  if (isTest(from)) return [] // tests may import from any folder of their package
  const [folder, other] = [getPlace(from), getPlace(to)]
  if (folder === other) return []
  const isInTable = !isFile(folder) && !isFile(other)
  return [{ from: folder, to: other, isInTable, of }]
}

const isFile = (place: string) => /\.\w+$/.test(place)
const inPackage = (path: string) => path.replace(/^packages\//, '')
const getPackage = (path: string) => inPackage(path).split('/')[0] ?? ''

/**
 * Returns the folder of a file, such as `registry/store`. For a file next to the folders, returns the file itself, such
 * as `registry/errors.ts`.
 */
function getPlace(path: string): string {
  const [root, ...rest] = inPackage(path).replace('/src/', '/').split('/')
  return [root, ...(rest.length > 1 ? rest.slice(0, -1) : rest)].join('/')
}

type Graph = Map<string, Set<string>>

function makeGraph(edges: readonly { from: string; to: string }[]): Graph {
  const graph: Graph = new Map()
  for (const { from, to } of edges) {
    const ends = graph.get(from) ?? new Set()
    graph.set(from, ends.add(to))
  }
  return graph
}

/** Returns the shortest cycle through each arrow that is part of one, without duplicates. */
function findCycles(graph: Graph): string[][] {
  const circles = new Map<string, string[]>()
  for (const [from, ends] of graph) {
    for (const to of ends) {
      const back = findPath(graph, to, from)
      const name = back?.toSorted().join()
      if (back && name && !circles.has(name)) circles.set(name, [from, ...back])
    }
  }
  return [...circles.values()]
}

function findPath(graph: Graph, from: string, to: string): string[] | undefined {
  const paths = [[from]]
  const seen = new Set([from])
  for (const path of paths) {
    const end = path.at(-1) ?? from
    if (end === to) return path
    for (const next of graph.get(end) ?? []) {
      if (seen.has(next)) continue
      seen.add(next)
      paths.push([...path, next])
    }
  }
  return undefined
}
