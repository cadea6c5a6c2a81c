import type { toString as textOf } from 'hast-util-to-string'

/** An HTML syntax tree (hast). */
export type Nodes = Parameters<typeof textOf>[0]
export type Root = Extract<Nodes, { type: 'root' }>
export type Element = Extract<Nodes, { type: 'element' }>
export type ElementContent = Element['children'][number]
