import {
  type DisplayMath,
  type InlineMath,
  isTooNested,
  mathFromMarkdown,
  mathSyntax,
} from '@shoal/core/markdown'
import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { gfm } from 'micromark-extension-gfm'

/** The root of a Markdown syntax tree (mdast). */
type Root = ReturnType<typeof fromMarkdown>
export type Node = Root['children'][number] | DisplayMath | InlineMath

/** HTML is treated as plain text, unlike in a card, because answers are not sanitized. */
const withoutHtml = { disable: { null: ['htmlFlow', 'htmlText'] } }
/**
 * Disables inline markup, for sources that contain too much of it. Blocks are still parsed, so that code blocks are
 * recognized.
 */
const withoutSpans = {
  disable: {
    null: [
      ...['attention', 'strikethrough', 'codeText', 'labelEnd', 'labelStartImage'],
      ...['labelStartLink', 'gfmFootnoteCall', 'gfmPotentialFootnoteCall', 'characterReference'],
      ...['autolink', 'emailAutolink', 'protocolAutolink', 'wwwAutolink'],
      ...['mathText', 'mathFlow'],
    ],
  },
}
const grammar = [gfm(), mathSyntax(), withoutHtml]
const mdastExtensions = [gfmFromMarkdown(), mathFromMarkdown()]

/**
 * Maximum number of inline markers in a paragraph. Parsing takes 0.1 s for 1,000 markers, and 4 times as long for
 * 2,000.
 */
const maxMarks = 1_000
/** Maximum nesting depth. With deeper nesting, browsers change the structure, and layout becomes slow. */
const deepestNodes = 100

/**
 * Parses the same Markdown dialect as that of model cards (CommonMark, GFM and TeX formulas), with the same parser. A
 * source that is nested too deeply is returned as one code block. If a source has too many inline markers, all inline
 * markers are left as text. `context` contains definitions to which `source` refers, and is not part of the result.
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

/** Whether any paragraph contains too many inline markers. An empty line always ends a paragraph. */
const hasTooManyMarks = (source: string) =>
  source
    .split(/\n[ \t]*\n/)
    .some((part) => (part.match(/[*_~`[\]!<&@:]+|\$+|\\[([]/g)?.length ?? 0) > maxMarks)

function isDeeper(node: Root | Node, levels: number): boolean {
  if (levels < 0) return true
  return 'children' in node && node.children.some((child) => isDeeper(child, levels - 1))
}

/** Replaces reference links and images with inline ones, using the first definition of each label. */
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
