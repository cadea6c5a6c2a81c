/** Formats the “Run here” links on a registry's model pages. `run-link.ts` parses them. */

/** The model that a link refers to. */
export type RunTarget = {
  /** The registry's origin, with an internationalized hostname in Punycode: `https://models.example.org`. */
  registry: string
  name: string
  /** The quantization or file; undefined for the default file. */
  label: string | undefined
}

export const runMarker = '#run='

/**
 * Returns a link that opens a daemon's page, which then asks the user whether to run the model.
 * @example
 * import { formatRunLink } from '@shoal/core/references'
 *
 * const target = { registry: 'http://localhost:8000', name: 'tide', label: 'Q8_0' }
 * formatRunLink('http://localhost:11434', target)
 */
export const formatRunLink = (daemon: string, target: RunTarget): string =>
  `${daemon}/${runMarker}${encodeURIComponent(formatRunTarget(target))}`

/** The model as a reference with the registry's scheme: `http://localhost:8000/tide:Q8_0`. */
export const formatRunTarget = ({ registry, name, label }: RunTarget): string =>
  `${registry}/${name}${label === undefined ? '' : `:${label}`}`
