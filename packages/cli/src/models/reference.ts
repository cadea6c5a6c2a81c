import * as references from '@shoal/core/references'
import { misuse } from '../terminal/failure.ts'

export type Reference = references.Reference

/** `[host[:port]/]name[:QUANT]`, or the address of a model's web page. */
export function readReference(text: string): Reference {
  const reference = references.parseReference(text)
  if (reference) return reference
  throw misuse(
    `“${text}” does not name a model.`,
    'A model is named like shoal-tiny, shoal-tiny:Q8_0 or localhost:8000/shoal-tiny:Q8_0.',
  )
}

/** As the daemon knows a model: `shoal-tiny`, or `shoal-tiny:Q8_0`. */
export function parseModelId(text: string): string {
  const { name, quantization } = readReference(text)
  return quantization === undefined ? name : `${name}:${quantization}`
}
