/**
 * “Run here” links, from a model's page on a registry to the page of the daemon on the visitor's machine:
 * `http://localhost:11434/#run=http%3A%2F%2Flocalhost%3A8000%2Ftide%3AQ8_0`. Any page on the web can contain such a link,
 * so nothing in it is trusted.
 */
import { isPublicName } from '../addresses/index.ts'
import { parseReference } from './reference.ts'
import { defaultRegistry } from './registry.ts'

/** The model that a link names. */
export type RunTarget = {
  /** The registry's origin, with an internationalized hostname in Punycode: `https://models.example.org`. */
  registry: string
  name: string
  /** The quantization or file; undefined for the default file. */
  label: string | undefined
}

const marker = '#run='

/** Names have at most 96 characters, hostnames 253 and filenames 246. */
const maxLength = 1000

/**
 * Returns the link to a daemon's page that asks whether to run a model.
 * @example
 * import { formatRunLink } from '@shoal/core/references'
 *
 * const target = { registry: 'http://localhost:8000', name: 'tide', label: 'Q8_0' }
 * formatRunLink('http://localhost:11434', target)
 */
export const formatRunLink = (daemon: string, target: RunTarget): string =>
  `${daemon}/${marker}${encodeURIComponent(formatRunTarget(target))}`

/** The model as a reference with the registry's scheme: `http://localhost:8000/tide:Q8_0`. */
export const formatRunTarget = ({ registry, name, label }: RunTarget): string =>
  `${registry}/${name}${label === undefined ? '' : `:${label}`}`

/** Returns the part of a URL's fragment that `parseRunTarget` reads; undefined if the fragment is not of a link. */
export const findRunText = (fragment: string): string | undefined =>
  fragment.startsWith(marker) ? fragment.slice(marker.length) : undefined

/**
 * Decodes the text in a link's fragment. Returns undefined if it is not the address of a model: for a scheme other than
 * http and https, credentials, a path or a query in the URL, control characters, and texts that are too long.
 */
export function decodeRunTarget(encoded: string): RunTarget | undefined {
  if (encoded.length > 3 * maxLength) return undefined
  try {
    return parseRunTarget(decodeURIComponent(encoded))
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}

/** Like `decodeRunTarget`, for text that is not encoded. */
export function parseRunTarget(text: string): RunTarget | undefined {
  // Browsers remove tabs and line breaks from URLs, and treat `\` as `/`.
  if (text.length > maxLength || /[\p{C}\\]/u.test(text)) return undefined
  const [, scheme = '', host = '', model = ''] =
    /^(https?):\/\/([^/?#@]+)\/([^/]+)$/i.exec(text) ?? []
  const address = `${scheme.toLowerCase()}://${host}`
  if (scheme === '' || !URL.canParse(address)) return undefined
  const { origin, hostname } = new URL(address)
  const reference = /^[\w.:[\]-]+$/.test(hostname) ? parseReference(model) : undefined
  return reference && { registry: origin, name: reference.name, label: reference.quantization }
}

/** The address of the registry with a label from `findRegistryLabel`. */
export function findRegistryAddress(label: string | undefined): string {
  if (label === undefined) return defaultRegistry
  if (label.includes('://')) return label
  const isPublic = isPublicName(new URL(`http://${label}`).hostname)
  return `${isPublic ? 'https' : 'http'}://${label}`
}
