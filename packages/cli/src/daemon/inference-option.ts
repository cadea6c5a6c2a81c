import type { Option } from 'commander'
import { createOption } from '../settings/options.ts'
import { cliSettings } from '../settings/settings.ts'

export type InferenceOption = { inference?: string }

/** The `--inference` option of every command that calls a daemon. */
export const inferenceOption = (): Option => createOption(cliSettings.inference)
