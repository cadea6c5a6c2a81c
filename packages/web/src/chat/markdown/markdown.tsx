import { memo, useMemo } from 'react'
import { CopyButton } from '../../ui/copy-button.tsx'
import { type Block, blocksOf } from './blocks.ts'
import { chunksOf } from './chunks.ts'
import { type Span, spansOf } from './spans.ts'

/** What a model wrote, as elements: no text of its becomes markup. */
export const Markdown = memo(function Markdown({ source }: { source: string }) {
  return (
    <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-4 break-words">
      {chunksOf(source).map((chunk, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: chunks are only ever added at the end
        <Chunk key={index} source={chunk} />
      ))}
    </div>
  )
})

const Chunk = memo(function Chunk({ source }: { source: string }) {
  return <Blocks blocks={useMemo(() => blocksOf(source), [source])} />
})

function Blocks({ blocks }: { blocks: readonly Block[] }) {
  // biome-ignore lint/suspicious/noArrayIndexKey: they have no other name, and keep their order
  return blocks.map((block, index) => <BlockElement key={index} block={block} />)
}

function BlockElement({ block }: { block: Block }) {
  switch (block.kind) {
    case 'paragraph':
      return (
        <p>
          <Spans source={block.text} />
        </p>
      )
    case 'heading':
      return <Heading {...block} />
    case 'code':
      return <Code {...block} />
    case 'quote':
      return (
        <blockquote className="grid gap-3 border-line-strong/55 border-l-2 pl-4 text-ink-2">
          <Blocks blocks={block.blocks} />
        </blockquote>
      )
    case 'list':
      return <List {...block} />
    case 'table':
      return <Table {...block} />
    case 'rule':
      return <hr className="border-line" />
  }
}

/** Below the headings of the page itself. */
function Heading({ level, text }: { level: number; text: string }) {
  const Name = level <= 1 ? 'h3' : level === 2 ? 'h4' : level === 3 ? 'h5' : 'h6'
  const size = level <= 1 ? 'text-[20px]' : level === 2 ? 'text-[18px]' : 'text-[16px]'
  return (
    <Name className={`mt-2 font-display font-semibold tracking-[-0.015em] ${size}`}>
      <Spans source={text} />
    </Name>
  )
}

function Code({ language, text }: { language: string; text: string }) {
  return (
    <div className="overflow-hidden rounded-xl border border-line bg-sunken">
      <div className="flex items-center justify-between border-line border-b py-1 pr-1 pl-4 text-[13px] text-ink-3">
        <span className="min-w-0 truncate font-mono">{language || 'text'}</span>
        <CopyButton
          value={text}
          label="Copy the code"
          className="grid size-8 place-items-center rounded-md hover:bg-surface hover:text-ink"
        />
      </div>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled with the keyboard
        tabIndex={0}
        className="overflow-x-auto px-4 py-3 font-mono text-[13.5px] leading-[1.55] -outline-offset-2"
      >
        {text}
      </pre>
    </div>
  )
}

function List({ start, items }: { start: number | undefined; items: readonly Block[][] }) {
  const content = items.map((blocks, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: they have no other name, and keep their order
    <li key={index} className="pl-1 marker:text-ink-3">
      <div className="grid grid-cols-[minmax(0,1fr)] gap-2">
        <Blocks blocks={blocks} />
      </div>
    </li>
  ))
  const look = 'grid grid-cols-[minmax(0,1fr)] gap-1.5 pl-6'
  if (start === undefined) return <ul className={`list-disc ${look}`}>{content}</ul>
  return (
    <ol start={start} className={`list-decimal ${look}`}>
      {content}
    </ol>
  )
}

const alignLooks = { left: 'text-left', center: 'text-center', right: 'text-right' } as const
type TableProps = Pick<Extract<Block, { kind: 'table' }>, 'head' | 'aligns' | 'rows'>

function Table({ head, aligns, rows }: TableProps) {
  const lookOf = (column: number) =>
    `border-b px-3 py-1.5 align-top ${alignLooks[aligns[column] ?? 'left']}`
  return (
    <section
      aria-label="Table"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: wide tables are scrolled with the keyboard
      tabIndex={0}
      className="overflow-x-auto"
    >
      <table className="text-[15px] tabular-nums">
        <thead>
          <tr>
            {head.map((cell, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns have no other name
              <th key={index} className={`border-line-strong/55 ${lookOf(index)}`}>
                <Spans source={cell} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: nor have rows
            <tr key={index}>
              {head.map((_, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns have no other name
                <td key={column} className={`border-line ${lookOf(column)}`}>
                  <Spans source={row[column] ?? ''} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Spans({ source }: { source: string }) {
  return <SpanList spans={spansOf(source)} />
}

function SpanList({ spans }: { spans: readonly Span[] }) {
  // biome-ignore lint/suspicious/noArrayIndexKey: they have no other name, and keep their order
  return spans.map((span, index) => <SpanElement key={index} span={span} />)
}

function SpanElement({ span }: { span: Span }) {
  switch (span.kind) {
    case 'text':
      return span.text
    case 'break':
      return <br />
    case 'code':
      return (
        <code className="rounded-[5px] bg-sunken px-1.5 py-0.5 font-mono text-[0.9em]">
          {span.text}
        </code>
      )
    case 'link':
      return (
        <a
          href={span.href}
          target="_blank"
          rel="nofollow ugc noopener noreferrer"
          className="link break-words"
        >
          <SpanList spans={span.spans} />
        </a>
      )
    default: {
      const Name = { strong: 'strong', emphasis: 'em', deleted: 'del' }[span.kind] as 'strong'
      return (
        <Name>
          <SpanList spans={span.spans} />
        </Name>
      )
    }
  }
}
