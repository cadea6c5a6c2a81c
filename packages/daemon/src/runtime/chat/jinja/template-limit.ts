/**
 * Errors about a template that takes too much time or memory. They are recognized by a code, because an error from
 * another thread loses its class.
 */

const code = 'template_limit'

export const templateLimitError = (message: string): Error =>
  Object.assign(new Error(message), { code })

export const isTemplateLimit = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === code
