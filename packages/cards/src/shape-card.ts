import { toString as textOf } from 'hast-util-to-string'
import { SKIP, visit } from 'unist-util-visit'
import { codePainter } from './color-code.ts'
import { dropTitle, nameHeadings } from './headings.ts'
import { formatMath } from './shape-math.ts'
import type { Element, Root } from './syntax-tree.ts'

export type CardOptions = {
  /** Whether to load external images. */
  images: boolean
  /** The model's names. If the card's title matches one of them, the title is removed. */
  names: string[]
}

/**
 * Prepares a sanitized tree for the page: removes the title, and adds elements and attributes, which are not sanitized
 * afterwards.
 */
export function shapeCard(tree: Root, { images, names }: CardOptions) {
  dropTitle(tree, names)
  const ids = nameHeadings(tree)
  const paint = codePainter()
  let tables = 0
  visit(tree, 'element', (node, index, parent) => {
    const formula = formatMath(node)
    if (formula && parent && index !== undefined) {
      parent.children[index] = formula
      return SKIP
    }
    if (node.tagName === 'a') shapeLink(node, ids)
    else if (node.tagName === 'img') shapeImage(node, images)
    else if (node.tagName === 'pre') shapeCode(node, paint)
    else if (node.tagName === 'code') delete node.properties.className
    else if (node.tagName === 'li') shapeItem(node)
    else if (node.tagName === 'input') shapeCheckbox(node)
    else if (node.tagName === 'table' && parent && index !== undefined) {
      tables += 1
      parent.children[index] = scrollable(node, `Table ${tables}`)
    }
    return undefined
  })
}

/** Updates links to the card's headings with the headings' new IDs, and marks other links as user-generated content. */
function shapeLink(link: Element, ids: ReadonlySet<string>) {
  const { properties } = link
  const { href } = properties
  if ('dataFootnoteBackref' in properties) properties.ariaLabel = 'Back to reference'
  if (typeof href !== 'string') return
  if (href.startsWith('#')) {
    if (!ids.has(href.slice(1))) properties.href = `#card-${href.slice(1)}`
    return
  }
  properties.rel = ['nofollow', 'ugc', 'noopener']
  if (isNameless(link)) properties.ariaLabel = href
}

function isNameless(link: Element): boolean {
  let name = textOf(link)
  visit(link, 'element', ({ properties }) => {
    name += properties.alt ?? ''
  })
  return name.trim() === ''
}

/**
 * An image is loaded only on request. An image with a relative URL is never loaded, because the registry stores no
 * other files for a card.
 */
function shapeImage(image: Element, images: boolean) {
  const { src, alt, ...others } = image.properties
  const address = remoteAddress(String(src ?? ''))
  if (images && address) {
    image.properties = {
      src: address,
      alt: alt ?? '',
      ...others,
      loading: 'lazy',
      decoding: 'async',
      referrerPolicy: 'no-referrer',
    }
    return
  }
  image.tagName = 'span'
  image.properties = { className: ['card-image'], ...(address && { dataSrc: address }) }
  image.children = [{ type: 'text', value: String(alt || 'image') }]
}

function remoteAddress(src: string): string | undefined {
  return URL.parse(src.startsWith('//') ? `https:${src}` : src)?.href
}

function shapeCode(pre: Element, paint: ReturnType<typeof codePainter>) {
  const [code] = pre.children
  const classes = code?.type === 'element' ? code.properties.className : undefined
  const language = /^language-([\w+#.-]{1,40})$/.exec(String(classes))?.[1]
  pre.properties = { ...(language && { dataLanguage: language }), tabIndex: 0 }
  // Elements that the author wrote in a code block are kept.
  if (!language || code?.type !== 'element') return
  if (code.children.some(({ type }) => type !== 'text')) return
  const parts = paint(textOf(code), language)
  if (parts) code.children = parts
}

/**
 * Marks the items of task lists. The checkbox is an item's first element or, in a loose list, the first element of the
 * item's paragraph.
 */
function shapeItem(item: Element) {
  const first = firstElement(item)
  const second = first?.tagName === 'p' ? firstElement(first) : first
  if (second?.tagName === 'input') item.properties.className = ['card-task']
}

function firstElement({ children }: Element): Element | undefined {
  return children.find((child) => child.type === 'element')
}

function shapeCheckbox({ properties }: Element) {
  properties.ariaLabel = properties.checked ? 'Done' : 'Not done'
}

/** Wraps a table so that, if it is too wide, it can be scrolled, including with the keyboard. */
function scrollable(table: Element, name: string): Element {
  return {
    type: 'element',
    tagName: 'div',
    properties: { className: ['card-table'], role: 'region', ariaLabel: name, tabIndex: 0 },
    children: [table],
  }
}
