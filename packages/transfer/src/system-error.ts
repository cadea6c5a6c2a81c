/** Whether the operating system returned this error, as opposed to a bug of ours. */
export const isSystemError = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error
