import type { Ending } from './endings.ts'

type Reason = { status: number; ending: Ending; meaning: string }

/**
 * The reasons for a daemon's error responses. Each key is the `code` in the response, `status` is the HTTP status, and
 * `ending` determines the CLI's exit code.
 */
export const daemonReasons = {
  unsupported_parameter: {
    status: 400,
    ending: 'failed',
    meaning: 'the daemon or the model does not support a parameter',
  },
  context_length_exceeded: {
    status: 400,
    ending: 'failed',
    meaning: 'the prompt is longer than the context length',
  },
  template_failed: {
    status: 400,
    ending: 'failed',
    meaning: 'the chat template rejects the messages, fails or exceeds a limit',
  },
  schema_refused: {
    status: 400,
    ending: 'failed',
    meaning: 'the JSON schema is not supported',
  },
  tool_refused: {
    status: 400,
    ending: 'failed',
    meaning: "a tool's schema is not supported",
  },
  unknown_token: {
    status: 400,
    ending: 'failed',
    meaning: "a token in the request is not in the model's vocabulary",
  },
  not_generative: {
    status: 400,
    ending: 'failed',
    meaning: 'the model creates embeddings or ranks documents, and does not generate text',
  },
  not_embedding: {
    status: 400,
    ending: 'failed',
    meaning: 'the model ranks documents, and does not create embeddings; use `/v1/rerank`',
  },
  not_ranking: {
    status: 400,
    ending: 'failed',
    meaning: 'the model cannot rank documents',
  },
  model_unusable: {
    status: 400,
    ending: 'failed',
    meaning:
      'the file cannot be loaded, for example because it is damaged, incomplete or not a model; the daemon tries again only when the file has changed',
  },
  no_fit: {
    status: 400,
    ending: 'failed',
    meaning: "none of the model's files fits in memory; specify a file to pull it anyway",
  },
  invalid_api_key: {
    status: 401,
    ending: 'not_signed_in',
    meaning: 'the API key is missing or wrong',
  },
  unknown_host: {
    status: 403,
    ending: 'not_permitted',
    meaning: 'the daemon does not accept requests for this hostname',
  },
  unknown_origin: {
    status: 403,
    ending: 'not_permitted',
    meaning: 'web pages from this origin are not allowed; add the origin to `SHOAL_ORIGINS`',
  },
  unknown_registry: {
    status: 403,
    ending: 'not_permitted',
    meaning:
      'the registry is not in the settings, and you are not signed in to it; run `shoal login --registry <url>`',
  },
  registry_refused: {
    status: 403,
    ending: 'not_permitted',
    meaning: 'the registry requires you to sign in again, or does not allow the request',
  },
  model_not_found: {
    status: 404,
    ending: 'not_found',
    meaning: 'the model is not installed, or the registry does not have it',
  },
  response_not_found: {
    status: 404,
    ending: 'not_found',
    meaning:
      'the response is not available: it is too old, the daemon has been restarted, or another API key was used to create it',
  },
  model_busy: { status: 409, ending: 'failed', meaning: 'the model is being pulled or copied' },
  model_linked: {
    status: 409,
    ending: 'failed',
    meaning: 'the model is a link to files that shoal does not manage',
  },
  damaged_file: {
    status: 409,
    ending: 'failed',
    meaning: 'the file has changed since it was pulled; run `shoal verify --repair`',
  },
  queue_full: {
    status: 429,
    ending: 'failed',
    meaning: "the model's queue is full",
  },
  model_lost: {
    status: 500,
    ending: 'failed',
    meaning: "the model's process exited or failed during the request",
  },
  crashes_model: {
    status: 503,
    ending: 'failed',
    meaning:
      "requests with the same prompt and schema crashed the model's process twice within a minute, each time without other requests in progress",
  },
  registry_failed: {
    status: 502,
    ending: 'failed',
    meaning: 'the registry returned an error or did not send the data',
  },
  registry_unreachable: {
    status: 502,
    ending: 'failed',
    meaning: 'the registry returned no usable response',
  },
  verification_failed: {
    status: 502,
    ending: 'failed',
    meaning: 'the data does not match its SHA-256, even after retries',
  },
  insufficient_memory: {
    status: 503,
    ending: 'no_room',
    meaning: 'the model needs more memory than models on this machine may use',
  },
  model_not_loaded: {
    status: 503,
    ending: 'failed',
    meaning: 'the model cannot be loaded now; a later request may succeed',
  },
  no_room: { status: 507, ending: 'failed', meaning: "the daemon's disk is full" },
} as const satisfies Record<string, Reason>

export type DaemonReason = keyof typeof daemonReasons
