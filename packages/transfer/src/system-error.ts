/** Whether the operating system reported the error. Any other error is a bug in our code. */
export const isSystemError = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error
