/** The value of some JSON that a model wrote; undefined where it is none after all. */
export function jsonValue(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined // models make mistakes: the caller has another reading of it
  }
}
