import { AppError } from './app-error.ts'

/**
 * An error that prevents the process from starting: a setting is invalid, or the folder, database or store to which it
 * refers cannot be used.
 */
export class ConfigError extends AppError<'invalid_setting'> {
  constructor(message: string, options?: ErrorOptions) {
    super('invalid_setting', message, {}, options)
  }
}
