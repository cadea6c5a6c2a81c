/** `[host[:port]/]name[:QUANT]`, or the address of a model's web page. */
import { misuse } from '../terminal/failure.ts'

export type Reference = {
  /** A host or an address; undefined for the registry of the settings. */
  registry: string | undefined
  name: string
  /** In capitals. */
  quantization: string | undefined
}

export const modelNamePattern = /^[a-z0-9][a-z0-9._-]{0,94}[a-z0-9]$/
const quantizationPattern = /^[A-Z0-9][A-Z0-9._+-]*$/

export function parseReference(text: string): Reference {
  const [, scheme = '', rest = ''] = /^(https?:\/\/)?(.*)$/i.exec(text.trim()) ?? []
  const segments = rest.replace(/\/+$/, '').split('/')
  const last = segments.pop() ?? ''
  // The web page of a model is `/m/<name>`.
  if (segments.length > 1 && segments.at(-1) === 'm') segments.pop()
  if (scheme !== '' && segments.length === 0) throw notAReference(text)

  const [name = '', quantization, ...more] = last.split(':')
  const reference = {
    registry: segments.length > 0 ? scheme + segments.join('/') : undefined,
    name: name.toLowerCase(),
    quantization: quantization?.toUpperCase(),
  }
  const isSound =
    more.length === 0 &&
    !segments.some((segment) => ['', '.', '..'].includes(segment)) &&
    modelNamePattern.test(reference.name) &&
    (reference.quantization === undefined || quantizationPattern.test(reference.quantization))
  if (!isSound) throw notAReference(text)
  return reference
}

/** As the daemon knows a model: `shoal-tiny`, or `shoal-tiny:Q8_0`. */
export function idOf(text: string): string {
  const { name, quantization } = parseReference(text)
  return quantization === undefined ? name : `${name}:${quantization}`
}

function notAReference(text: string) {
  return misuse(
    `“${text}” does not name a model.`,
    'A model is named like shoal-tiny, shoal-tiny:Q8_0 or localhost:8000/shoal-tiny:Q8_0.',
  )
}
