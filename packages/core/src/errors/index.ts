/** The error class, its codes, and how to recognize them. */
export { AppError, type ErrorOf, hasCode } from './app-error.ts'
export { ConfigError } from './config-error.ts'
export type { ErrorCode, ErrorDetails } from './error-details.ts'
