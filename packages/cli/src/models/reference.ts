import * as references from '@shoal/core/references'
import { misuse } from '../terminal/failure.ts'

export type Reference = references.Reference

/** Parses `[host[:port]/]name[:QUANT]`, or the URL of a model's web page. */
export function readReference(text: string): Reference {
  const reference = references.parseReference(text)
  if (reference) return reference
  throw misuse(
    `“${text}” is not a valid model name.`,
    'Examples: shoal-tiny, shoal-tiny:Q8_0, localhost:8000/shoal-tiny:Q8_0.',
  )
}

/**
 * Returns the daemon's ID for a model: `shoal-tiny`, `shoal-tiny:Q8_0` or `gpubox/shoal-tiny`. The host distinguishes
 * the model from a model with the same name in another registry.
 */
export function parseModelId(text: string): string {
  const { name, quantization, registry } = readReference(text)
  const host = registry === undefined ? '' : `${references.hostOf(registry)}/`
  return `${host}${name}${quantization === undefined ? '' : `:${quantization}`}`
}
