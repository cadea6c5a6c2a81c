/** Parses JSON written by a model; undefined if it is invalid. */
export function jsonValue(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined // models make mistakes, which the callers handle
  }
}
