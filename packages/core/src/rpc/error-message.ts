/** An error as a plain value: a structured clone of an `Error` loses its code and everything else of its own. */
export type ErrorMessage = {
  name: string
  message: string
  stack: string | undefined
  /** Of an error whose cause is one too. */
  cause: ErrorMessage | undefined
  /** Such as `code` and `details`. */
  own: Record<string, unknown>
}

/** Whatever was thrown. */
export function messageOfError(error: unknown): ErrorMessage {
  if (!(error instanceof Error)) return messageOfError(new Error(String(error)))
  const { name, message, stack, cause } = error
  return {
    name,
    message,
    stack,
    cause: cause === undefined ? undefined : messageOfError(cause),
    own: Object.fromEntries(Object.entries(error).filter(([key]) => key !== 'cause')),
  }
}

export function errorOfMessage({ name, message, stack, cause, own }: ErrorMessage): Error {
  const error = new Error(message, cause && { cause: errorOfMessage(cause) })
  for (const [key, value] of Object.entries({ name, stack })) {
    Object.defineProperty(error, key, { value, configurable: true, writable: true })
  }
  return Object.assign(error, own)
}
