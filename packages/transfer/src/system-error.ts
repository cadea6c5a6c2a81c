/** Whether the operating system returned this error. If not, it is a bug in our code. */
export const isSystemError = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error
