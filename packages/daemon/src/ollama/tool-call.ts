import { randomUUID } from 'node:crypto'
import type { Piece } from '../runtime/runtime.ts'

export type OllamaCall = {
  id: string
  function: { index: number; name: string; arguments: object }
}

export function toOllamaCall(
  { name, arguments: text }: NonNullable<Piece['toolCall']>,
  index: number,
): OllamaCall {
  const id = `call_${randomUUID().replaceAll('-', '').slice(0, 12)}`
  return { id, function: { index, name, arguments: argumentsIn(text) } }
}

/** Ollama gives them as an object. A model may write anything: what is no object is given in one. */
function argumentsIn(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { value }
  } catch {
    return { value: text } // cut off, or no JSON at all
  }
}
