import { collectDefinitions, formatContext } from './definitions.ts'
import { type Node, parseMarkdown } from './parse.ts'
import { splitBlocks } from './split-blocks.ts'

/**
 * Returns a function that parses a Markdown source. Call it each time the source has grown. Unchanged list items, and
 * unchanged blocks other than lists, are the same objects as in the previous call, so they are not parsed or rendered
 * again.
 */
export function markdownReader(): (source: string) => Node[] {
  let parsed = new Map<string, Node[]>()

  return (source) => {
    const before = parsed
    parsed = new Map()
    const parse = (text: string, context: string): Node[] => {
      const key = `${context}\0${text}`
      const nodes = parsed.get(key) ?? before.get(key) ?? parseMarkdown(text, context)
      parsed.set(key, nodes)
      return nodes
    }

    const chunks = splitBlocks(source)
    const definitions = collectDefinitions(
      chunks.map((chunk) => [chunk.source, parse(chunk.source, '')]),
    )
    const blocks: Node[] = []
    for (const chunk of chunks) {
      const nodes = parse(chunk.source, formatContext(chunk.source, definitions))
      const [first, ...others] = nodes
      const last = blocks.at(-1)
      const isSameList = chunk.isNextItem && last?.type === 'list' && first?.type === 'list'
      if (isSameList) last.children.push(...first.children)
      blocks.push(...(isSameList ? others : nodes).map(ownList))
    }
    return blocks
  }
}

/** Copies a list, so that items from other chunks can be appended to the copy. */
const ownList = (node: Node): Node =>
  node.type === 'list' ? { ...node, children: [...node.children] } : node
