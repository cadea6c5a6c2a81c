import type { Ending } from './endings.ts'

type Reason = { status: number; ending: Ending; meaning: string }

/** Why a daemon refuses: the `code` in its answers, each with its HTTP status. A command of ours ends with `ending`. */
export const daemonReasons = {
  unsupported_parameter: {
    status: 400,
    ending: 'failed',
    meaning: 'a parameter that this daemon or this model cannot honour',
  },
  context_length_exceeded: {
    status: 400,
    ending: 'failed',
    meaning: 'the prompt is longer than the context',
  },
  template_failed: {
    status: 400,
    ending: 'failed',
    meaning: "the model's chat template is missing, or refuses the messages",
  },
  schema_refused: {
    status: 400,
    ending: 'failed',
    meaning: 'this JSON schema is not supported',
  },
  tool_refused: {
    status: 400,
    ending: 'failed',
    meaning: 'the schema of this tool is not supported',
  },
  unknown_token: { status: 400, ending: 'failed', meaning: 'the model has no such token' },
  not_generative: {
    status: 400,
    ending: 'failed',
    meaning: 'the model makes embeddings and no text',
  },
  no_fit: {
    status: 400,
    ending: 'failed',
    meaning: 'no file of the model fits in memory; a pull can name one',
  },
  invalid_api_key: { status: 401, ending: 'not_signed_in', meaning: 'no API key, or a wrong one' },
  unknown_host: {
    status: 403,
    ending: 'not_permitted',
    meaning: 'the daemon is not served under this hostname',
  },
  unknown_origin: {
    status: 403,
    ending: 'not_permitted',
    meaning: 'web pages of this origin may not call: `SHOAL_ORIGINS` can allow it',
  },
  registry_refused: {
    status: 403,
    ending: 'not_permitted',
    meaning: 'the registry requires another sign-in',
  },
  model_not_found: {
    status: 404,
    ending: 'not_found',
    meaning: 'the model is not on this machine, or not at the registry',
  },
  model_busy: { status: 409, ending: 'failed', meaning: 'the model is being pulled or copied' },
  model_linked: {
    status: 409,
    ending: 'failed',
    meaning: 'the model is a link to files that shoal leaves alone',
  },
  damaged_file: {
    status: 409,
    ending: 'failed',
    meaning: 'the file is not what was pulled; `shoal verify --repair` mends it',
  },
  queue_full: {
    status: 429,
    ending: 'failed',
    meaning: 'the model has as many requests as may wait for it',
  },
  model_lost: { status: 500, ending: 'failed', meaning: 'the process of the model ended' },
  registry_failed: {
    status: 502,
    ending: 'failed',
    meaning: 'the registry answers with an error, or does not send the bytes',
  },
  registry_unreachable: {
    status: 502,
    ending: 'failed',
    meaning: 'no usable answer from the registry',
  },
  verification_failed: {
    status: 502,
    ending: 'failed',
    meaning: 'the bytes do not match their SHA-256, even after retries',
  },
  insufficient_memory: {
    status: 503,
    ending: 'no_room',
    meaning: 'the model needs more memory than there is, or than is free now',
  },
  model_not_loaded: { status: 503, ending: 'failed', meaning: 'the model cannot be loaded' },
  no_room: { status: 507, ending: 'failed', meaning: "the daemon's disk is full" },
} as const satisfies Record<string, Reason>

export type DaemonReason = keyof typeof daemonReasons
