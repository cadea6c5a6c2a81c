import { AppError } from '@shoal/core/errors'

export const conflict = (message: string) => new AppError('conflict', message, {})
export const notFound = (message: string) => new AppError('not_found', message, {})
export const unprocessable = (message: string) => new AppError('unprocessable', message, {})
