import { AppError } from '@shoal/core/errors'

/**
 * Returns the error for a file that is not GGUF or that shoal does not accept. `message` states which part is invalid,
 * and why.
 */
export const invalidGguf = (message: string) => new AppError('invalid_gguf', message, {})
