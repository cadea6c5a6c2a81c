import { AppError } from './app-error.ts'

/** An invalid setting, which keeps the process from starting. The message names the variable. */
export class ConfigError extends AppError<'invalid_setting'> {
  constructor(message: string, options?: ErrorOptions) {
    super('invalid_setting', message, {}, options)
  }
}
