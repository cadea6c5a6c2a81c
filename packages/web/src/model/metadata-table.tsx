import { useState } from 'react'
import { CopyButton } from '../ui/copy-button.tsx'

/** A large array that the registry has shortened: its type, its full length and its first items. */
type Shortened = { type: string; length: number; items: unknown[] }

const isShortened = (value: unknown): value is Shortened =>
  typeof value === 'object' && value !== null && 'length' in value && 'items' in value

/** Maximum number of characters shown in a table cell. Longer text is collapsed. */
const longText = 160

export function MetadataTable({ metadata }: { metadata: Record<string, unknown> }) {
  const [filter, setFilter] = useState('')
  const words = filter.trim().toLowerCase()
  const rows = Object.entries(metadata).filter(
    ([key, value]) =>
      key.toLowerCase().includes(words) || String(value).toLowerCase().includes(words),
  )
  return (
    <section aria-labelledby="keys-title">
      <div className="mb-2 flex flex-wrap items-center justify-between gap-3">
        <h2 id="keys-title" className="font-semibold text-[20px]">
          Keys and values
        </h2>
        <label className="w-full sm:w-56">
          <span className="sr-only">Filter keys and values</span>
          <input
            type="search"
            className="field h-9"
            placeholder="Filter"
            value={filter}
            onChange={({ target }) => setFilter(target.value)}
          />
        </label>
      </div>
      <table className="w-full table-fixed text-[14px] max-sm:block">
        <colgroup>
          <col className="w-[38%]" />
          <col />
        </colgroup>
        <thead className="sr-only">
          <tr>
            <th scope="col">Key</th>
            <th scope="col">Value</th>
          </tr>
        </thead>
        <tbody className="font-mono text-[13px] max-sm:block">
          {rows.map(([key, value]) => (
            <tr key={key} className="border-line border-t align-top max-sm:block max-sm:py-2">
              <th
                scope="row"
                className="break-words py-2 pr-4 text-left font-normal text-ink-2 max-sm:block max-sm:py-0"
              >
                {key}
              </th>
              <td className="break-words py-2 max-sm:block max-sm:py-0">
                <Value name={key} value={value} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p role="status" className="py-4 text-[15px] text-ink-3 empty:hidden">
        {rows.length === 0 && 'No matching keys or values.'}
      </p>
    </section>
  )
}

function Value({ name, value }: { name: string; value: unknown }) {
  if (isShortened(value)) return <ShortArray {...value} />
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  if (text.length <= longText) return text
  return (
    <details>
      <summary className="text-ink-3">{text.length.toLocaleString('en')} characters</summary>
      <div className="relative mt-2 rounded-xl bg-sunken">
        <CopyButton
          value={text}
          label={`Copy ${name}`}
          className="absolute top-1.5 right-1.5 grid size-8 place-items-center rounded-md hover:bg-surface"
        />
        <pre className="max-h-96 overflow-auto whitespace-pre-wrap break-words p-4 pr-12">
          {text}
        </pre>
      </div>
    </details>
  )
}

function ShortArray({ type, length, items }: Shortened) {
  return (
    <details>
      <summary className="text-ink-3">
        {length.toLocaleString('en')} × {type}
      </summary>
      <p className="mt-2 text-ink-2">
        {items.map((item) => JSON.stringify(item)).join(', ')}
        {length > items.length && ', …'}
      </p>
    </details>
  )
}
