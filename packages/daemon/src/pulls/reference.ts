import { slugPattern } from '@shoal/protocol'
import { Fault } from '../errors.ts'

/** What is to be pulled: a model of the registry, and which of its files where somebody cares. */
export type Reference = { name: string; quantization: string | undefined }

const modelName = new RegExp(slugPattern)
const quantizationName = /^[A-Z0-9][A-Z0-9._+() -]*$/

/** `name`, `name:QUANT`, or `name:latest`, which says no more than the name. */
export function parseReference(text: string): Reference {
  const [name = '', tag, ...more] = text.toLowerCase().split(':')
  const quantization = tag === 'latest' ? undefined : tag?.toUpperCase()
  const isSound =
    more.length === 0 &&
    modelName.test(name) &&
    (quantization === undefined || quantizationName.test(quantization))
  if (isSound) return { name, quantization }
  throw new Fault(400, `'${text}' names no model: shoal-tiny and shoal-tiny:Q8_0 would`, {
    param: 'model',
  })
}
