/**
 * Formulas in cards. Until a card has been sanitized, a formula is a `code` element with a `language-math…` class,
 * which authors can also create themselves by writing a code block in the language `math`.
 */
import type { InlineMath } from '@shoal/core/markdown'
import { renderMath } from '@shoal/web/math'
import { toString as textOf } from 'hast-util-to-string'
import type { Element, ElementContent } from './syntax-tree.ts'

const [inline, display] = ['language-math', 'language-math-display']

/** Returns the element for a displayed formula between other blocks, as it is before the card is sanitized. */
export const mathBlock = (tex: string): Element =>
  element('pre', [element('code', [{ type: 'text', value: tex }], inline)])

/** Returns the element for a formula in a paragraph, as it is before the card is sanitized. */
export const inlineMathCode = ({ value, isDisplay }: InlineMath): Element =>
  element('code', [{ type: 'text', value }], isDisplay ? display : inline)

/** Returns the MathML of a formula; undefined if the element is not a formula, or if the formula is invalid. */
export function formatMath(node: Element): ElementContent | undefined {
  const [child] = node.children
  const isBlock = node.tagName === 'pre' && child?.type === 'element'
  const code = isBlock ? child : node
  if (code.tagName !== 'code') return undefined
  const name = String(code.properties.className)
  if (name !== inline && name !== display) return undefined
  const mathml = renderMath(textOf(code).trim(), isBlock || name === display)
  if (mathml === undefined) return undefined
  const raw: ElementContent = { type: 'raw', value: mathml }
  return isBlock ? scrollable(raw) : raw
}

/** Wraps a displayed formula so that, if it is too wide, it can be scrolled, including with the keyboard. */
const scrollable = (child: ElementContent): Element => ({
  ...element('div', [child], 'card-math'),
  properties: { className: ['card-math'], role: 'group', ariaLabel: 'Formula', tabIndex: 0 },
})

const element = (tagName: string, children: ElementContent[], name?: string): Element => ({
  type: 'element',
  tagName,
  properties: name ? { className: [name] } : {},
  children,
})
