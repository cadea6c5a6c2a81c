import { parseReference, type Reference } from '@shoal/core/references'
import { Fault } from '../errors.ts'

/** Parses a model's name. Throws a `Fault` if the name contains a registry other than the one at `address`. */
export function referenceTo(address: string, text: string): Reference {
  const reference = parseReference(text)
  if (!reference) {
    throw badModel(
      `'${text}' is not a valid model name; valid names look like shoal-tiny or shoal-tiny:Q8_0`,
    )
  }
  const { registry } = reference
  const label = address.replace(/^https?:\/\//, '')
  if (registry === undefined || [address, label].includes(registry.toLowerCase())) return reference
  throw badModel(`this daemon pulls from ${label}, not from ${registry}`)
}

const badModel = (message: string) => new Fault(400, message, { param: 'model' })
