import { AppError } from './app-error.ts'

/** A bad setting: the process does not start. The message names the variable. */
export class ConfigError extends AppError<'invalid_setting'> {
  constructor(message: string, options?: ErrorOptions) {
    super('invalid_setting', message, {}, options)
  }
}
