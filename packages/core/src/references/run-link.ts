/**
 * “Run here” links lead from a model's page on a registry to the page of the daemon on the visitor's machine:
 * `http://localhost:11434/#run=http%3A%2F%2Flocalhost%3A8000%2Ftide%3AQ8_0`. Any page on the web can contain such a
 * link, so its content is not trusted.
 */
import { type RunTarget, runMarker } from './format-run-link.ts'
import { isLabel, isLatest } from './reference.ts'

/**
 * The pattern from `model-name.ts`. It is repeated here because, with an import, the bundler would put `model-name.ts`
 * into a file of its own, which the pages that use it would have to load in addition.
 */
const modelName = /^[a-z0-9][a-z0-9._-]{0,94}[a-z0-9]$/

/** Names have at most 96 characters, hostnames 253 and filenames 246. */
const maxLength = 1000

/**
 * Returns the part of a URL's fragment that `decodeRunTarget` parses, or undefined if the fragment has another form.
 */
export const findRunText = (fragment: string): string | undefined =>
  fragment.startsWith(runMarker) ? fragment.slice(runMarker.length) : undefined

/**
 * Decodes the text in a link's fragment. Returns undefined if the text is not the address of a model, is too long, or
 * contains control characters. The scheme must be http or https, the path must contain only the model's name and tag,
 * and the address must not contain credentials or a query.
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
  const [, scheme = '', host = '', model = '', tag] =
    /^(https?):\/\/([^/?#@]+)\/([^/:]+)(?::([^/]+))?$/i.exec(text) ?? []
  const address = `${scheme.toLowerCase()}://${host}`
  const name = model.toLowerCase()
  if (!modelName.test(name) || !URL.canParse(address)) return undefined
  const { origin, hostname } = new URL(address)
  if (!/^[\w.:[\]-]+$/.test(hostname)) return undefined
  if (tag === undefined || isLatest(tag)) return { registry: origin, name, label: undefined }
  return isLabel(tag) ? { registry: origin, name, label: tag } : undefined
}
