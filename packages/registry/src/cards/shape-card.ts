import { toString as textOf } from 'hast-util-to-string'
import { visit } from 'unist-util-visit'
import { dropTitle, nameHeadings } from './headings.ts'
import type { Element, Root } from './syntax-tree.ts'

export type CardOptions = {
  /** Whether images that lie elsewhere are loaded from there. */
  images: boolean
  /** What the page calls the model: a card that begins with this as its title loses it. */
  names: string[]
}

/** Gives the sanitized tree what the page around it counts on. All that is set here is ours, not the author's. */
export function shapeCard(tree: Root, { images, names }: CardOptions) {
  dropTitle(tree, names)
  const ids = nameHeadings(tree)
  let tables = 0
  visit(tree, 'element', (node, index, parent) => {
    if (node.tagName === 'a') shapeLink(node, ids)
    else if (node.tagName === 'img') shapeImage(node, images)
    else if (node.tagName === 'pre') shapeCode(node)
    else if (node.tagName === 'code') delete node.properties.className
    else if (node.tagName === 'li') shapeItem(node)
    else if (node.tagName === 'input') shapeCheckbox(node)
    else if (node.tagName === 'table' && parent && index !== undefined) {
      tables += 1
      parent.children[index] = scrollable(node, `Table ${tables}`)
    }
  })
}

/** Links within the card follow the ids that its headings were given. */
function shapeLink(link: Element, ids: ReadonlySet<string>) {
  const { properties } = link
  const { href } = properties
  if ('dataFootnoteBackref' in properties) properties.ariaLabel = 'Back to the text'
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

/** An image makes no request unless it was asked for. A relative one never does: a model has nothing beside its card. */
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

function shapeCode(pre: Element) {
  const [code] = pre.children
  const classes = code?.type === 'element' ? code.properties.className : undefined
  const language = /^language-([\w+#.-]{1,40})$/.exec(String(classes))?.[1]
  pre.properties = { ...(language && { dataLanguage: language }), tabIndex: 0 }
}

/** An item of a task list: its checkbox comes first, in a paragraph where the list is a loose one. */
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

/** A wide table scrolls by itself, by keyboard too. */
function scrollable(table: Element, name: string): Element {
  return {
    type: 'element',
    tagName: 'div',
    properties: { className: ['card-table'], role: 'region', ariaLabel: name, tabIndex: 0 },
    children: [table],
  }
}
