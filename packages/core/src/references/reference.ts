import { isModelName } from './model-name.ts'

export type Reference = {
  /** A host or an address as it was typed; undefined for the registry of the settings. */
  registry: string | undefined
  name: string
  /** Which file, as it was typed: a quantization, a label of a list, or a filename. Undefined for the default one. */
  quantization: string | undefined
  /** `:latest` was written: the default file, while a name without it may mean all of the model's. */
  isLatest?: true
}

/**
 * Reads `[host[:port]/]name[:QUANT]`, or the address of a model's web page. Letters may be large or small. Undefined if
 * `text` is not such a reference.
 */
export function parseReference(text: string): Reference | undefined {
  const [, scheme = '', rest = ''] = /^(https?:\/\/)?(.*)$/i.exec(text.trim()) ?? []
  const segments = rest.replace(/\/+$/, '').split('/')
  const [model = '', tag, ...more] = (segments.pop() ?? '').split(':')
  // The web page of a model is `/m/<name>`.
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

const isLatest = (tag: string) => tag.toLowerCase() === 'latest'

/** Visible characters with spaces between them. */
const label = /^[^\p{C}\p{Z}:/]+(?: +[^\p{C}\p{Z}:/]+)*$/u

/** Whether a file can be named so behind the colon, as `Q4_K_M` and `tide F32 (1)` can. */
export const isLabel = (text: string): boolean => label.test(text) && !isLatest(text)

/** A reference as a command line takes it: in quotes if it holds spaces, parentheses, or brackets, which zsh expands. */
export function shellWord(text: string): string {
  if (/^[\w.+:/-]+$/.test(text)) return text
  return /["$`\\!]/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : `"${text}"`
}
