import { isTooNested } from '@shoal/core/markdown'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { gfm } from 'micromark-extension-gfm'

/** Markdown as a tree (mdast). */
type Root = ReturnType<typeof fromMarkdown>
export type Node = Root['children'][number]

/** HTML is text here, unlike in a card: an answer has no author, and nothing would sanitize it. */
const withoutHtml = { disable: { null: ['htmlFlow', 'htmlText'] } }
/** In text with too many marks they are text. Its blocks stay known, so that code is code. */
const withoutSpans = {
  disable: {
    null: [
      ...['attention', 'strikethrough', 'codeText', 'labelEnd', 'labelStartImage'],
      ...['labelStartLink', 'gfmFootnoteCall', 'gfmPotentialFootnoteCall', 'characterReference'],
      ...['autolink', 'emailAutolink', 'protocolAutolink', 'wwwAutolink'],
    ],
  },
}
const grammar = [gfm(), withoutHtml]
const mdastExtensions = [gfmFromMarkdown()]

/** In a paragraph: the parser's time grows with the square of their number. 1,000 take it 0.1 s. */
const maxMarks = 1_000
/** Deeper than this, browsers give up on the structure and layout gets slow. */
const deepestNodes = 100

/**
 * Parses the dialect of the cards (CommonMark and GFM) with their parser. Text that would take it long, or that nests deeper
 * than any answer needs, is code: shown as it is. `context` has definitions that `source` refers to; it is not returned.
 */
export function parseMarkdown(source: string, context = ''): Node[] {
  if (isTooNested(source)) return asTyped(source)
  const extensions = hasTooManyMarks(source) ? [...grammar, withoutSpans] : grammar
  const tree = fromMarkdown(context + source, { extensions, mdastExtensions })
  if (isDeeper(tree, deepestNodes)) return asTyped(source)
  resolveReferences(tree)
  return tree.children.filter(({ position }) => (position?.start.offset ?? 0) >= context.length)
}

const asTyped = (value: string): Node[] => [{ type: 'code', value }]

/** No paragraph goes on after an empty line. */
const hasTooManyMarks = (source: string) =>
  source
    .split(/\n[ \t]*\n/)
    .some((part) => (part.match(/[*_~`[\]!<&@:]+/g)?.length ?? 0) > maxMarks)

function isDeeper(node: Root | Node, levels: number): boolean {
  if (levels < 0) return true
  return 'children' in node && node.children.some((child) => isDeeper(child, levels - 1))
}

/** Makes links and images of those that name a definition: the first of that name. */
function resolveReferences(tree: Root) {
  const urls = new Map<string, string>()
  visit(tree, (node) => {
    if (node.type === 'definition' && !urls.has(node.identifier))
      urls.set(node.identifier, node.url)
  })
  visit(tree, (node) => {
    if (node.type !== 'linkReference' && node.type !== 'imageReference') return
    const url = urls.get(node.identifier) ?? ''
    Object.assign(node, { type: node.type === 'linkReference' ? 'link' : 'image', url })
  })
}

function visit(node: Root | Node, act: (node: Root | Node) => void) {
  act(node)
  if ('children' in node) for (const child of node.children) visit(child, act)
}
