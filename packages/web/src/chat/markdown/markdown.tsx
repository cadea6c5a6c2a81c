import { pageHeadingLevels } from '@shoal/core/markdown'
import { createContext, memo, type ReactNode, useContext, useRef } from 'react'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Formula } from './formula.tsx'
import type { Node } from './parse.ts'
import { markdownReader } from './read-markdown.ts'

/** Renders a model's output as React elements. HTML in the output is shown as text. */
function Markdown({ source }: { source: string }) {
  const read = useRef(undefined as ReturnType<typeof markdownReader> | undefined)
  read.current ??= markdownReader()
  const nodes = read.current(source)
  return (
    <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-4 break-words">
      <HeadingLevels value={findHeadingLevels(nodes)}>
        <Nodes nodes={nodes} />
      </HeadingLevels>
    </div>
  )
}

export default memo(Markdown)

function Nodes({ nodes }: { nodes: readonly Node[] }) {
  // biome-ignore lint/suspicious/noArrayIndexKey: nodes have no other key, and keep their order
  return nodes.map((node, index) => <NodeElement key={index} node={node} />)
}

const NodeElement = memo(function NodeElement({ node }: { node: Node }) {
  switch (node.type) {
    case 'text':
      return node.value
    case 'break':
      return <br />
    case 'paragraph':
      return (
        <p>
          <Nodes nodes={node.children} />
        </p>
      )
    case 'heading':
      return <Heading node={node} />
    case 'code':
      return <Code {...node} />
    case 'blockquote':
      return (
        <blockquote className="grid gap-3 border-line-strong/55 border-l-2 pl-4 text-ink-2">
          <Nodes nodes={node.children} />
        </blockquote>
      )
    case 'list':
      return <List {...node} />
    case 'listItem':
      return <Item {...node} />
    case 'table':
      return <Table {...node} />
    case 'thematicBreak':
      return <hr className="border-line" />
    case 'inlineCode':
      return (
        <code className="rounded-[5px] bg-sunken px-1.5 py-0.5 font-mono text-[0.9em]">
          {node.value}
        </code>
      )
    case 'math':
      return <Formula tex={node.value} isDisplay />
    case 'inlineMath':
      return <Formula tex={node.value} isDisplay={node.isDisplay} />
    case 'link':
      return (
        <Link url={node.url}>
          <Nodes nodes={node.children} />
        </Link>
      )
    case 'image': // an image is loaded only if the user opens the link
      return <Link url={node.url}>{node.alt || node.url}</Link>
    case 'strong':
    case 'emphasis':
    case 'delete': {
      const Name = { strong: 'strong', emphasis: 'em', delete: 'del' }[node.type] as 'strong'
      return (
        <Name>
          <Nodes nodes={node.children} />
        </Name>
      )
    }
    case 'footnoteReference':
      return <sup>{node.label ?? node.identifier}</sup>
    case 'footnoteDefinition':
      return (
        <div className="flex gap-2 text-[14px] text-ink-2">
          <sup className="mt-2">{node.label ?? node.identifier}</sup>
          <div className="grid min-w-0 gap-2">
            <Nodes nodes={node.children} />
          </div>
        </div>
      )
    default: // definitions: the links that refer to them already contain the URLs
      return null
  }
})

type NodeOfType<T extends Node['type']> = Extract<Node, { type: T }>

/** Renders a link if its URL is safe. Otherwise shows the URL as text. */
function Link({ url, children }: { url: string; children: ReactNode }) {
  if (!isSafe(url)) {
    return (
      <>
        {children} ({url})
      </>
    )
  }
  return (
    <a
      href={url}
      target="_blank"
      rel="nofollow ugc noopener noreferrer"
      className="link break-words"
    >
      {children}
    </a>
  )
}

const maxAddressLength = 2048

const isSafe = (url: string) =>
  url.length <= maxAddressLength &&
  URL.canParse(url) &&
  ['http:', 'https:', 'mailto:'].includes(new URL(url).protocol)

/** The HTML level of each heading. It depends on the headings before it. */
const HeadingLevels = createContext<ReadonlyMap<Node, number>>(new Map())

function findHeadingLevels(nodes: readonly Node[]): Map<Node, number> {
  const toLevel = pageHeadingLevels()
  const levels = new Map<Node, number>()
  const visit = (node: Node) => {
    if (node.type === 'heading') levels.set(node, toLevel(node.depth))
    if ('children' in node) for (const child of node.children) visit(child)
  }
  for (const node of nodes) visit(node)
  return levels
}

function Heading({ node }: { node: NodeOfType<'heading'> }) {
  const { depth, children } = node
  const level = useContext(HeadingLevels).get(node) ?? 6
  const Name = `h${level}` as 'h3'
  const size = depth === 1 ? 'text-[20px]' : depth === 2 ? 'text-[18px]' : 'text-[16px]'
  return (
    <Name className={`mt-2 font-display font-semibold tracking-[-0.015em] ${size}`}>
      <Nodes nodes={children} />
    </Name>
  )
}

function Code({ lang, value }: NodeOfType<'code'>) {
  return (
    <div className="overflow-hidden rounded-xl border border-line bg-sunken">
      <div className="flex items-center justify-between border-line border-b py-1 pr-1 pl-4 text-[13px] text-ink-3">
        <span className="min-w-0 truncate font-mono">{lang || 'text'}</span>
        <CopyButton
          value={value}
          label="Copy the code"
          className="grid size-8 place-items-center rounded-md hover:bg-surface hover:text-ink"
        />
      </div>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: lets users scroll long lines with the keyboard
        tabIndex={0}
        className="overflow-x-auto px-4 py-3 font-mono text-[13.5px] leading-[1.55] -outline-offset-2"
      >
        {value}
      </pre>
    </div>
  )
}

function List({ ordered, start, children }: NodeOfType<'list'>) {
  const look = 'grid grid-cols-[minmax(0,1fr)] gap-1.5 pl-6'
  if (!ordered) {
    return (
      <ul className={`list-disc ${look}`}>
        <Nodes nodes={children} />
      </ul>
    )
  }
  return (
    <ol start={start === 1 ? undefined : (start ?? undefined)} className={`list-decimal ${look}`}>
      <Nodes nodes={children} />
    </ol>
  )
}

/** Renders a list item. In a task list, the item begins with its checkbox. */
function Item({ checked, children }: NodeOfType<'listItem'>) {
  const isTask = typeof checked === 'boolean'
  return (
    <li className={isTask ? '-ml-6 flex list-none gap-2.5' : 'pl-1 marker:text-ink-3'}>
      {isTask && (
        <input
          type="checkbox"
          checked={checked}
          disabled
          aria-label={checked ? 'Done' : 'Not done'}
          className="mt-1.5 size-4 shrink-0"
        />
      )}
      <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-2">
        <Nodes nodes={children} />
      </div>
    </li>
  )
}

const alignLooks = { left: 'text-left', center: 'text-center', right: 'text-right' } as const

/** Renders a table in which each row has as many cells as the header. */
function Table({ align, children: [head, ...rows] }: NodeOfType<'table'>) {
  const columns = [...(head?.children ?? []).keys()]
  const getCellClass = (column: number) =>
    `border-b px-3 py-1.5 align-top ${alignLooks[align?.[column] ?? 'left']}`
  return (
    <section
      aria-label="Table"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: lets users scroll wide tables with the keyboard
      tabIndex={0}
      className="overflow-x-auto"
    >
      <table className="text-[15px] tabular-nums">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} className={`border-line-strong/55 ${getCellClass(column)}`}>
                <Nodes nodes={head?.children[column]?.children ?? []} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other key
            <tr key={index}>
              {columns.map((column) => (
                <td key={column} className={`border-line ${getCellClass(column)}`}>
                  <Nodes nodes={row.children[column]?.children ?? []} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
