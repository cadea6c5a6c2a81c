import { AppError } from '@shoal/core/errors'

/** The bytes are not a GGUF file that we accept. The message says what is wrong with which part. */
export const invalidGguf = (message: string) => new AppError('invalid_gguf', message, {})
