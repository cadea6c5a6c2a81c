/**
 * URL parameters as HTML forms encode them: all values are text, and a parameter with several values is repeated. By
 * default, the router reads and writes JSON, so a search for the word `null` would find nothing.
 */
type Parameters = Record<string, string | string[]>

export function parseSearch(text: string): Parameters {
  const values = new Map<string, string[]>()
  for (const [name, value] of new URLSearchParams(text)) {
    values.set(name, [...(values.get(name) ?? []), value])
  }
  return Object.fromEntries(
    [...values].map(([name, all]) => [name, all.length === 1 ? String(all[0]) : all]),
  )
}

export function formatSearch(search: Record<string, unknown>): string {
  const pairs = Object.entries(search).flatMap(([name, value]) =>
    [value].flat().flatMap((one) => (one === undefined ? [] : [[name, String(one)]])),
  )
  const text = new URLSearchParams(pairs).toString()
  return text === '' ? '' : `?${text}`
}
