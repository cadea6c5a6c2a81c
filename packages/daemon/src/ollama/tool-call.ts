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

/**
 * Returns the arguments as an object, as Ollama does. A model may generate any JSON value. A value that is not an
 * object is wrapped in one.
 */
function argumentsIn(text: string): object {
  const value: unknown = JSON.parse(text)
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { value }
}
