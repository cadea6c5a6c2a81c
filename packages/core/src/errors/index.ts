/** The error class, the error codes, and functions that recognize errors by code. */
export { AppError, type ErrorOf, hasCode } from './app-error.ts'
export { ConfigError } from './config-error.ts'
export { describePage } from './describe-page.ts'
export type { ErrorCode, ErrorDetails, Overflow } from './error-details.ts'
