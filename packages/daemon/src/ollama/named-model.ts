import { Fault } from '../errors.ts'

/** Older clients of Ollama send `name`. */
export function namedModel({
  model,
  name,
}: {
  model?: string | null
  name?: string | null
}): string {
  const named = model || name
  if (named) return named
  throw new Fault(422, 'model is required', { param: 'model' })
}
