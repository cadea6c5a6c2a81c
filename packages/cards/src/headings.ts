import { pageHeadingLevels } from '@shoal/core/markdown'
import { toString as textOf } from 'hast-util-to-string'
import { EXIT, visit } from 'unist-util-visit'
import type { Element, Root } from './syntax-tree.ts'

const isHeading = ({ tagName }: Element) => /^h[1-6]$/.test(tagName)

/**
 * Removes the card's title if it only repeats the model's name, which the page already shows above the card. Nearly all
 * cards have such a title.
 */
export function dropTitle(tree: Root, names: string[]) {
  const known = names.map(essence).filter((name) => name !== '')
  visit(tree, 'element', (node, index, parent) => {
    if (!isHeading(node)) return undefined
    const isTitle = node.tagName === 'h1' && known.includes(essence(textOf(node)))
    if (isTitle && parent && index !== undefined) parent.children.splice(index, 1)
    return EXIT // only the first heading can be the title
  })
}

/** Normalizes a name, so that `Llama 3.3 8B` and `llama-3.3-8b` are equal. */
const essence = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '')

/**
 * Gives every heading an ID and, if possible, a link to itself. The levels begin with h3, because the page's own
 * headings use h1 and h2, and no level is skipped. Returns all IDs in the card.
 */
export function nameHeadings(tree: Root): Set<string> {
  const ids = collectIds(tree)
  const toLevel = pageHeadingLevels()
  const repeated = new Map<string, number>()
  const unlinked = headingsInControls(tree)
  visit(tree, 'element', (node) => {
    if (!isHeading(node)) return
    const text = textOf(node)
    const id = freeId(`card-${toSlug(text)}`, ids, repeated)
    ids.add(id)
    node.properties.id = id
    node.tagName = `h${toLevel(Number(node.tagName[1]))}`
    if (unlinked.has(node)) return
    // Without this attribute, the link's label would be part of the heading's accessible name.
    if (text.trim() !== '') node.properties.ariaLabel = text.trim()
    node.children.push(linkTo(id, text))
  })
  return ids
}

/** Returns the slug that GitHub generates for the same heading, so that links in cards from GitHub still work. */
function toSlug(text: string): string {
  const slug = text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')
  return slug.slice(0, 100) || 'section'
}

function freeId(wanted: string, ids: ReadonlySet<string>, repeated: Map<string, number>): string {
  let id = wanted
  let count = repeated.get(wanted) ?? 0
  while (ids.has(id)) {
    count += 1
    id = `${wanted}-${count}`
  }
  repeated.set(wanted, count)
  return id
}

function linkTo(id: string, text: string): Element {
  const name = text.trim().slice(0, 200) || 'this section'
  return {
    type: 'element',
    tagName: 'a',
    properties: { className: ['card-anchor'], href: `#${id}`, ariaLabel: `Link to ${name}` },
    children: [{ type: 'text', value: '#' }],
  }
}

/** Finds headings inside links and summaries, which must not contain another link. */
function headingsInControls(tree: Root): Set<Element> {
  const found = new Set<Element>()
  visit(tree, 'element', (control) => {
    if (control.tagName !== 'a' && control.tagName !== 'summary') return
    visit(control, 'element', (node) => {
      if (isHeading(node)) found.add(node)
    })
  })
  return found
}

function collectIds(tree: Root): Set<string> {
  const ids = new Set<string>()
  visit(tree, 'element', ({ properties }) => {
    if (properties.id !== undefined) ids.add(String(properties.id))
  })
  return ids
}
