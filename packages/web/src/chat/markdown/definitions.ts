import type { Node } from './parse.ts'

/**
 * The definition of a link or a footnote: the source to prepend to other chunks that use the definition, and the chunk
 * that contains the definition. In the source, a footnote's text is replaced by a placeholder.
 */
type Definition = { source: string; chunk: string }

/**
 * Maximum length of a definition that works outside its own chunk. The length is limited because the definition is
 * parsed again with each chunk that uses it, and there may be thousands of such chunks.
 */
const maxDefinitionLength = 2048

/**
 * Returns the definitions in all chunks, keyed by label. If a label is defined more than once, the first definition
 * applies. Definitions that are too long are ignored.
 */
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

/**
 * Returns the definitions that `chunk` uses and that are in other chunks, as the `context` for {@link parseMarkdown}.
 */
export function formatContext(chunk: string, definitions: ReadonlyMap<string, Definition>): string {
  if (definitions.size === 0) return ''
  const labels = new Set(Array.from(chunk.matchAll(/\[((?:[^[\]\\]|\\.)+)\]/g), getLabel))
  const needed = [...labels]
    .map((label) => definitions.get(label))
    .filter((found) => found !== undefined && found.chunk !== chunk)
    .map((found) => `${found?.source}\n\n`)
  // The horizontal rule ends the last footnote. Otherwise the footnote would include indented text at the start of
  // `chunk`.
  return needed.length === 0 ? '' : `${needed.join('')}***\n\n`
}

/** Normalizes a label in the same way as the parser. */
const getLabel = ([, label = '']: RegExpExecArray) =>
  label.replace(/\s+/g, ' ').trim().toLowerCase().toUpperCase().toLowerCase()
