import { chars, choice, type Node, repeat, sequence, text } from '../gbnf/node.ts'
import type { TextPart } from './call-syntax.ts'

const digits = '0123456789'
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Creates the grammar for text of which some parts are constant and others may differ in each call. */
export const textParts = (parts: readonly TextPart[], name: string): Node =>
  sequence(...parts.map((part) => (typeof part === 'string' ? text(part) : partNode(part, name))))

function partNode({ any }: Exclude<TextPart, string>, name: string): Node {
  switch (any) {
    case 'name':
      return text(name)
    case 'number':
      return choice(text('0'), sequence(chars('123456789'), repeat(chars(digits), 0, 3)))
    case 'id':
      return repeat(chars(`${digits}${letters}_-`), 1, 64)
    case 'attribute':
      return repeat(chars(letters), 1, 20)
  }
}
