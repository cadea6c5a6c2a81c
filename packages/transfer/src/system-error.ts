/** Whether the system refused something, as opposed to a mistake of ours. */
export const isSystemError = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error
