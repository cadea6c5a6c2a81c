/** An error as a plain value. A structured clone of an `Error` would lose its code and its other own properties. */
export type ErrorMessage = {
  name: string
  message: string
  stack: string | undefined
  /** Set if the error has a cause. */
  cause: ErrorMessage | undefined
  /** The error's own properties, such as `code` and `details`. */
  own: Record<string, unknown>
}

/** Maximum number of nested causes. There is a limit because causes can be circular. */
const maxCauses = 8

/** Converts an error, or any other thrown value, to a plain value. */
export function messageOfError(error: unknown, causes = maxCauses): ErrorMessage {
  if (!(error instanceof Error)) return messageOfError(new Error(String(error)))
  const { name, message, stack, cause } = error
  return {
    name,
    message,
    stack,
    cause: cause === undefined || causes === 0 ? undefined : messageOfError(cause, causes - 1),
    own: Object.fromEntries(Object.entries(error).filter(([key]) => key !== 'cause')),
  }
}

/** Returns the properties that can be cloned. */
export const pickCloneable = (own: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(own).filter(([, value]) => isCloneable(value)))

function isCloneable(value: unknown): boolean {
  try {
    structuredClone(value)
    return true
  } catch {
    return false // `postError` reports the reason
  }
}

export function errorOfMessage({ name, message, stack, cause, own }: ErrorMessage): Error {
  const error = new Error(message, cause && { cause: errorOfMessage(cause) })
  for (const [key, value] of Object.entries({ name, stack })) {
    Object.defineProperty(error, key, { value, configurable: true, writable: true })
  }
  return Object.assign(error, own)
}
