import {
  type DisplayMath,
  type InlineMath,
  isTooNested,
  mathFromMarkdown,
  mathSyntax,
} from '@shoal/core/markdown'
import rehypeRaw from 'rehype-raw'
import rehypeSanitize from 'rehype-sanitize'
import rehypeStringify from 'rehype-stringify'
import remarkGfm from 'remark-gfm'
import remarkParse from 'remark-parse'
import remarkRehype from 'remark-rehype'
import { type Processor, unified } from 'unified'
import { cardSchema, footnotePrefix } from './card-schema.ts'
import { withoutFrontMatter } from './front-matter.ts'
import { type CardOptions, shapeCard } from './shape-card.ts'
import { inlineMathCode, mathBlock } from './shape-math.ts'
import type { Nodes, Root } from './syntax-tree.ts'

/**
 * Maximum depth of the HTML. If elements are nested more deeply, browsers change their structure and lay them out
 * slowly.
 */
const deepestElements = 100
/** Maximum number of characters in the HTML, which footnotes and reference links can make much larger than the card. */
const maxHtmlLength = 2 * 1024 * 1024

/** Extends the Markdown parser with formulas. */
function remarkFormulas(this: Processor) {
  const data = this.data() as { [name: string]: unknown[] | undefined }
  data.micromarkExtensions = [...(data.micromarkExtensions ?? []), mathSyntax()]
  data.fromMarkdownExtensions = [...(data.fromMarkdownExtensions ?? []), mathFromMarkdown()]
}

const handlers = {
  math: (_: unknown, { value }: DisplayMath) => mathBlock(value),
  inlineMath: (_: unknown, node: InlineMath) => inlineMathCode(node),
} as never

const toSafeTree = unified()
  .use(remarkParse)
  .use(remarkGfm)
  .use(remarkFormulas)
  .use(remarkRehype, { allowDangerousHtml: true, clobberPrefix: footnotePrefix, handlers })
  .use(rehypeRaw)
  .use(rehypeSanitize, cardSchema)
  .freeze()
/** The only raw HTML in a sanitized and shaped tree is the MathML of its formulas. */
const toHtml = unified().use(rehypeStringify, { allowDangerousHtml: true }).freeze()

/**
 * Renders Markdown (CommonMark and GFM with inline HTML) as HTML that is safe in a page: it runs no scripts, sets no
 * styles, and loads nothing except requested images. Throws if the HTML would be too large or too deeply nested for a
 * browser. Rendering a hostile card may take minutes and gigabytes of memory, so servers use `card-renderer.ts`.
 */
export function renderCard(markdown: string, options: CardOptions): string {
  if (isTooNested(markdown)) throw new Error('the Markdown is nested too deeply')
  const tree = toSafeTree.runSync(toSafeTree.parse(withoutFrontMatter(markdown))) as Root
  if (isDeeper(tree, deepestElements)) throw new Error('the HTML is nested too deeply')
  shapeCard(tree, options)
  const html = toHtml.stringify(tree)
  if (html.length > maxHtmlLength)
    throw new Error(`the HTML is too large: ${html.length} characters`)
  return html
}

function isDeeper(node: Nodes, levels: number): boolean {
  if (levels < 0) return true
  return 'children' in node && node.children.some((child) => isDeeper(child, levels - 1))
}
