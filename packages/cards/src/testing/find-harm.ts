import rehypeRaw from 'rehype-raw'
import { unified } from 'unified'
import { visit } from 'unist-util-visit'
import type { Element, Root } from '../syntax-tree.ts'

/**
 * The elements that a card may contain, with their attributes. The list is independent of `cardSchema`, so that tests
 * can find mistakes in the schema.
 */
const allowed: Record<string, string[]> = {
  a: [
    'href',
    'rel',
    'title',
    'id',
    'class',
    'aria-label',
    'data-footnote-ref',
    'data-footnote-backref',
  ],
  img: [
    ...['src', 'alt', 'title', 'width', 'height', 'align'],
    ...['loading', 'decoding', 'referrerpolicy'],
  ],
  input: ['type', 'disabled', 'checked', 'aria-label'],
  li: ['id', 'class'],
  ol: ['start', 'reversed'],
  section: ['data-footnotes'],
  details: ['open'],
  abbr: ['title'],
  span: ['class', 'data-src'],
  pre: ['class', 'tabindex', 'data-language'],
  div: ['align', 'class', 'role', 'aria-label', 'tabindex'],
  p: ['align'],
  tr: ['align'],
  td: ['align', 'colspan', 'rowspan'],
  th: ['align', 'colspan', 'rowspan'],
  ...Object.fromEntries(
    ['h3', 'h4', 'h5', 'h6'].map((name) => [name, ['id', 'align', 'aria-label']]),
  ),
  ...Object.fromEntries(
    `blockquote hr br ul dl dt dd summary figure figcaption table caption thead tbody tfoot code kbd samp var tt sub sup
     small b strong i em u s strike del ins mark q cite dfn ruby rb rp rt wbr`
      .split(/\s+/)
      .map((name) => [name, []]),
  ),
}

const rules: Record<string, RegExp> = {
  href: /^(https?:|mailto:|#card-|[^:]*$|[^:]*[/?#])/,
  src: /^https?:\/\//,
  'data-src': /^https?:\/\//,
  id: /^card-/,
  class: /^card-(image|anchor|task|table|plain|keyword|name|string|number|comment|deleted)$/,
  rel: /^nofollow ugc noopener$/,
  role: /^region$/,
  type: /^checkbox$/,
  'data-language': /^[\w+#.-]+$/,
  align: /^(left|center|right)$/,
}

/** Parses rendered HTML in the same way as browsers do, and returns everything in it that is forbidden. */
export function findHarm(html: string): string[] {
  const root: Root = { type: 'root', children: [{ type: 'raw', value: html }] }
  const harm: string[] = []
  visit(unified().use(rehypeRaw).runSync(root) as Root, (node) => {
    if (node.type === 'element') harm.push(...harmIn(node))
    else if (node.type !== 'text' && node.type !== 'root') harm.push(node.type)
  })
  return harm
}

function harmIn({ tagName, properties }: Element): string[] {
  const known = allowed[tagName]
  if (!known) return [`<${tagName}>`]
  return Object.entries(properties).flatMap(([property, value]) => {
    const name = toAttributeName(property)
    const text = Array.isArray(value) ? value.join(' ') : String(value)
    const isKnown = known.includes(name) || name === 'dir' || name === 'lang'
    const isFine = isKnown && (rules[name]?.test(text) ?? true)
    return isFine ? [] : [`<${tagName} ${name}="${text}">`]
  })
}

/**
 * Converts a property name to an attribute name, because hast uses the DOM's names, such as `className` for `class`.
 */
function toAttributeName(property: string): string {
  if (property === 'className') return 'class'
  const isDashed = /^(data|aria)[A-Z]/.test(property)
  return isDashed
    ? property.replace(/[A-Z]/g, (one) => `-${one.toLowerCase()}`)
    : property.toLowerCase()
}
