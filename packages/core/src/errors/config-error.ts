import { AppError } from './app-error.ts'

/** An invalid setting, which prevents the process from starting. The message contains the variable's name. */
export class ConfigError extends AppError<'invalid_setting'> {
  constructor(message: string, options?: ErrorOptions) {
    super('invalid_setting', message, {}, options)
  }
}
