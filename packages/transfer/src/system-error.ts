/** Whether the error comes from the operating system. Any other error is a bug in our code. */
export const isSystemError = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error
