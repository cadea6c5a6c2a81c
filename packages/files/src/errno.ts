/** Whether `error` is a system error with one of these codes, such as `ENOENT`. */
export function isErrno(
  error: unknown,
  ...codes: readonly string[]
): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && codes.some((code) => code === error.code)
}

/** Returns undefined if `error` means that there is no such file or folder, and throws it otherwise. */
export function ignoreMissing(error: unknown): undefined {
  if (!isErrno(error, 'ENOENT')) throw error
}
