import { Fault } from '../errors.ts'

/** The model of a request. Older Ollama clients send its name as `name`. */
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
