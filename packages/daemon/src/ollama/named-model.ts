import { Fault } from '../errors.ts'

/** The name of the model in a request. Older Ollama clients send it as `name` instead of `model`. */
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
