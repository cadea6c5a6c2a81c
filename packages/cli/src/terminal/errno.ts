/** Whether `error` is the system's error of this code, such as `ENOENT`. */
export function isErrno(error: unknown, code: string): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && error.code === code
}
