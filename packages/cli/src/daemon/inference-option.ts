import { Option } from 'commander'

export type InferenceOption = { inference?: string }

/** For every command that calls a daemon. */
export const inferenceOption = () =>
  new Option('--inference <address>', 'the daemon to talk to (default: the one that runs here)')
