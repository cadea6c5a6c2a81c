import { invalid } from '../../errors.ts'

/**
 * The parameters of a query with their values. A value has one character per byte, because an info hash is not UTF-8.
 */
export type RawQuery = Map<string, string[]>

export function readQuery(url: string): RawQuery {
  const query: RawQuery = new Map()
  const start = url.indexOf('?')
  if (start === -1) return query
  for (const parameter of url.slice(start + 1).split('&')) {
    const end = parameter.indexOf('=')
    const name = end === -1 ? parameter : parameter.slice(0, end)
    const value = end === -1 ? '' : decode(parameter.slice(end + 1))
    const values = query.get(name)
    if (values) values.push(value)
    else query.set(name, [value])
  }
  return query
}

/** Returns the value of a parameter. Throws if the parameter occurs more than once. */
export function single(query: RawQuery, name: string): string | undefined {
  const values = query.get(name)
  if (values && values.length > 1) throw invalid(`${name} is given ${values.length} times`)
  return values?.[0]
}

/**
 * Maps each pair of hexadecimal digits to its character. Decoding with this table is fast, which matters because an
 * info hash can contain 20 escapes.
 */
const escaped = new Map(
  Array.from({ length: 256 }, (_, code) => [
    code.toString(16).padStart(2, '0'),
    String.fromCharCode(code),
  ]),
)

function decode(text: string): string {
  const [first = '', ...parts] = text.replaceAll('+', ' ').split('%')
  let decoded = first
  for (const part of parts) {
    const character = escaped.get(part.slice(0, 2).toLowerCase())
    decoded += character === undefined ? `%${part}` : character + part.slice(2)
  }
  return decoded
}
