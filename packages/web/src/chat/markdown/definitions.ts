import type { Node } from './parse.ts'

/** The definition of a link or a footnote: its source, to be parsed before other chunks, and the chunk that contains it. */
type Definition = { source: string; chunk: string }

/** Longer definitions work only in their own chunk, because they could be used thousands of times. */
const maxDefinitionLength = 2048

/** The definitions of all chunks by label. The first one of a label counts. */
export function collectDefinitions(
  chunks: readonly (readonly [source: string, nodes: readonly Node[]])[],
): Map<string, Definition> {
  const definitions = new Map<string, Definition>()
  for (const [chunk, nodes] of chunks) {
    for (const node of nodes) {
      if (node.type !== 'definition' && node.type !== 'footnoteDefinition') continue
      const label = node.type === 'definition' ? node.identifier : `^${node.identifier}`
      const written = chunk.slice(node.position?.start.offset, node.position?.end.offset)
      const source = node.type === 'definition' ? written : `${written.split(']:')[0]}]: note`
      if (definitions.has(label) || source.length > maxDefinitionLength) continue
      definitions.set(label, { source, chunk })
    }
  }
  return definitions
}

/** Returns the definitions in other chunks that `chunk` uses, as context for {@link parseMarkdown}. */
export function formatContext(chunk: string, definitions: ReadonlyMap<string, Definition>): string {
  if (definitions.size === 0) return ''
  const labels = new Set(Array.from(chunk.matchAll(/\[((?:[^[\]\\]|\\.)+)\]/g), getLabel))
  const needed = [...labels]
    .map((label) => definitions.get(label))
    .filter((found) => found !== undefined && found.chunk !== chunk)
    .map((found) => `${found?.source}\n\n`)
  // The horizontal rule ends a footnote, which would otherwise include indented text.
  return needed.length === 0 ? '' : `${needed.join('')}***\n\n`
}

/** Normalizes labels like the parser. */
const getLabel = ([, label = '']: RegExpExecArray) =>
  label.replace(/\s+/g, ' ').trim().toLowerCase().toUpperCase().toLowerCase()
