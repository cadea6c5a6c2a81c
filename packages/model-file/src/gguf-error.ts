import { AppError } from '@shoal/core/errors'

/** The bytes are not a GGUF file that shoal accepts. The message names the part and the problem. */
export const invalidGguf = (message: string) => new AppError('invalid_gguf', message, {})
