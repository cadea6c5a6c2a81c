import { isModelName } from './model-name.ts'

export type Reference = {
  /** A host or URL, as the user typed it; undefined for the registry from the settings. */
  registry: string | undefined
  name: string
  /** A quantization, a label from a list, or a filename, as the user typed it; undefined for the default file. */
  quantization: string | undefined
  /**
   * Set for the tag `:latest`, which always selects the default file. A name without a tag can also mean all of the
   * model's files.
   */
  isLatest?: true
}

/**
 * Parses `[host[:port]/]name[:QUANT]` or the URL of a model's web page, both of which are case-insensitive. Returns
 * undefined for any other text.
 */
export function parseReference(text: string): Reference | undefined {
  const [, scheme = '', rest = ''] = /^(https?:\/\/)?(.*)$/i.exec(text.trim()) ?? []
  const segments = rest.replace(/\/+$/, '').split('/')
  const [model = '', tag, ...more] = (segments.pop() ?? '').split(':')
  // The path of a model's web page is `/m/<name>`.
  if (segments.length > 1 && segments.at(-1)?.toLowerCase() === 'm') segments.pop()
  const name = model.toLowerCase()
  const isSound =
    more.length === 0 &&
    (scheme === '' || segments.length > 0) &&
    !segments.some((segment) => ['', '.', '..'].includes(segment) || /[?#@]/.test(segment)) &&
    !/^https?:$/i.test(segments[0] ?? '') &&
    isModelName(name) &&
    (tag === undefined || isLatest(tag) || isLabel(tag))
  if (!isSound) return undefined
  const registry = segments.length > 0 ? scheme + segments.join('/') : undefined
  if (tag !== undefined && isLatest(tag)) {
    return { registry, name, quantization: undefined, isLatest: true }
  }
  return { registry, name, quantization: tag }
}

export const isLatest = (tag: string) => tag.toLowerCase() === 'latest'

/** Matches visible characters other than `:` and `/`. Spaces are allowed only between them. */
const label = /^[^\p{C}\p{Z}:/]+(?: +[^\p{C}\p{Z}:/]+)*$/u

/** Whether `text` can follow the colon in a reference, as `Q4_K_M` and `tide F32 (1)` can. */
export const isLabel = (text: string): boolean => label.test(text) && !isLatest(text)

/**
 * Formats text, such as a reference or a path, as a shell argument. Quotes it if it contains characters that a shell
 * may interpret, such as spaces, parentheses or brackets.
 */
export function shellWord(text: string): string {
  if (/^[\w.+:/-]+$/.test(text)) return text
  return /["$`\\!]/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : `"${text}"`
}
