import { Fault } from '../errors.ts'

/** `name` is what older clients of Ollama call it. */
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
