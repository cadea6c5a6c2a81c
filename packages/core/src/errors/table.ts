/** The meaning of every error code: for API clients, for scripts that run commands, and for the documentation. */
import { type ErrorOf, hasCode } from './app-error.ts'
import { daemonReasons } from './daemon-reasons.ts'
import { type Ending, endings } from './endings.ts'
import type { ErrorCode, ErrorDetails } from './error-details.ts'

export { type DaemonReason, daemonReasons } from './daemon-reasons.ts'
export { type Ending, endings, exitCodes } from './endings.ts'

/** The possible values of `reason` or `code` in the details `D`; `never` if there are none. */
type ReasonOf<D> = D extends { reason: infer R extends string }
  ? R
  : 'code' extends keyof D
    ? Extract<D['code'], string>
    : never

type Row<C extends ErrorCode> = {
  /** The HTTP status of the response; undefined if no server returns this code. */
  status?: number
  /** How a command ends, unless the HTTP status is more specific. */
  ending: Ending
  meaning: string
} & ([ReasonOf<ErrorDetails[C]>] extends [never]
  ? object
  : { reasons: Record<ReasonOf<ErrorDetails[C]>, string> })

export const errorTable: { readonly [C in ErrorCode]: Row<C> } = {
  invalid: {
    status: 400,
    ending: 'failed',
    meaning: 'a value in the path, the query or a header is invalid',
    reasons: {
      unknown_host: 'the registry does not accept requests for this hostname',
      chunk_mismatch:
        'the data does not match the declared size or SHA-256 of the chunk; nothing was stored',
    },
  },
  unprocessable: {
    status: 422,
    ending: 'failed',
    meaning: 'the body is well-formed, but a value in it is invalid or missing',
  },
  unauthenticated: {
    status: 401,
    ending: 'not_signed_in',
    meaning: 'a sign-in is required, or the token is invalid',
    reasons: { account_disabled: 'an administrator has disabled the account' },
  },
  forbidden: {
    status: 403,
    ending: 'not_permitted',
    meaning: 'this account does not have permission',
    reasons: {
      bad_signature: 'a presigned URL is invalid or has expired',
      invitation_invalid: 'the invitation is unknown, used, revoked or expired',
      registration_closed:
        'the registry does not accept new accounts (`SHOAL_REGISTRATION=closed`)',
      setup_code_required:
        'creating the first account requires the setup code that the registry printed',
      wrong_password: 'the current password is wrong',
    },
  },
  not_found: {
    status: 404,
    ending: 'not_found',
    meaning: 'no such file, API key, session, invitation, link or endpoint',
    reasons: {
      model_renamed: 'the model has been renamed: repeat the request with the new name',
      model_unknown: 'no such model, or a private model that this account cannot read',
      user_unknown: 'no account has this username',
    },
  },
  conflict: {
    status: 409,
    ending: 'failed',
    meaning: 'the request conflicts with the current state',
    reasons: {
      chunks_missing: 'an upload cannot be completed until all chunks have been sent',
      file_exists: 'another file of the model has this name',
      hash_conflict: 'a different hash was declared earlier for the same part of the upload',
      hashes_missing: 'an upload cannot be completed until all its hashes have been declared',
      last_admin: 'no active administrator would remain',
      lease_lost: 'another process is now processing the file, or the file was deleted',
      model_not_empty:
        'with `only_if_empty`, a model that has files or open uploads cannot be deleted',
      name_taken: 'another model or account has this name',
      owns_models: 'an account that owns models cannot be removed',
      too_many_keys: 'the account has reached its limit on API keys',
      username_reserved: 'the username is reserved',
    },
  },
  too_large: {
    status: 413,
    ending: 'failed',
    meaning: 'the request is larger than allowed',
    reasons: { quota_exceeded: 'the account would exceed its quota' },
  },
  too_slow: {
    status: 408,
    ending: 'failed',
    meaning: 'the client sent data too slowly or stopped sending',
  },
  busy: {
    status: 429,
    ending: 'rate_limited',
    meaning: 'too many requests; retry after the time in `Retry-After`',
    reasons: {
      rate_limited: 'too many requests or failed sign-ins in a short time',
      too_many_searches: 'too many simultaneous searches',
    },
  },
  unavailable: {
    status: 503,
    ending: 'registry_failed',
    meaning: 'the database or the storage cannot be reached, or the registry is shutting down',
  },
  storage_full: {
    status: 503,
    ending: 'registry_failed',
    meaning: "the registry's disk is full",
  },

  daemon_refused: {
    ending: 'failed',
    meaning: 'the daemon returned an error: see its reason',
  },
  client_gone: { status: 499, ending: 'failed', meaning: 'the client closed the connection' },
  context_length_exceeded: daemonReasons.context_length_exceeded,
  template_failed: daemonReasons.template_failed,
  schema_refused: daemonReasons.schema_refused,
  tool_refused: daemonReasons.tool_refused,
  unknown_token: daemonReasons.unknown_token,
  not_generative: daemonReasons.not_generative,
  not_embedding: daemonReasons.not_embedding,
  not_ranking: daemonReasons.not_ranking,
  model_lost: daemonReasons.model_lost,
  model_unusable: daemonReasons.model_unusable,

  registry_refused: {
    ending: 'failed',
    meaning: 'the registry returned an error: see its status and reason',
  },
  daemon_gone: {
    ending: 'unreachable',
    meaning: 'the daemon did not respond, or its response was cut off',
  },
  unreachable: {
    ending: 'unreachable',
    meaning: endings.unreachable.meaning,
    reasons: {
      dns: 'the hostname does not resolve',
      refused: 'nothing is listening at the address, or a firewall rejects connections',
      no_route: 'there is no route to the host',
      reset: 'the connection was closed unexpectedly',
      timeout: 'there was no response before the timeout',
      no_peers: 'with `--only-peers`: no peer has the file, or the tracker returned an error',
      unknown: 'any other connection failure',
    },
  },
  tls_failed: {
    ending: 'tls_failed',
    meaning: endings.tls_failed.meaning,
    reasons: {
      self_signed: 'the certificate is self-signed',
      unknown_issuer: 'the certificate is from an authority that this machine does not trust',
      expired: 'the certificate has expired',
      not_yet_valid: 'the certificate is not valid yet',
      wrong_name: 'the certificate is for another hostname',
      not_tls: 'the server does not speak TLS',
      other: 'any other TLS failure',
    },
  },
  proxy_failed: {
    ending: 'proxy_failed',
    meaning: endings.proxy_failed.meaning,
    reasons: {
      dns: "the proxy's hostname does not resolve",
      refused: "nothing is listening at the proxy's address",
      no_route: 'there is no route to the proxy',
      timeout: 'the proxy did not respond before the timeout',
      auth: 'the proxy requires authentication',
      denied: 'the proxy does not allow the request',
      answered: 'the proxy cannot reach the registry',
    },
  },
  not_a_registry: {
    ending: 'not_a_registry',
    meaning: endings.not_a_registry.meaning,
    reasons: {
      html: 'the response is a web page, for example from a captive portal',
      not_json: 'the response is not JSON',
      other_program: 'the response is from another program',
      not_http: 'the response is not HTTP',
    },
  },
  redirect_refused: {
    ending: 'redirect_refused',
    meaning: endings.redirect_refused.meaning,
    reasons: {
      loop: 'too many redirects',
      other_host: 'the redirect is to another host or port',
      insecure: 'the redirect is from https to http',
      moved:
        'either the redirect is from http to https and the request has credentials, or the request is not a `GET`',
    },
  },

  verification_failed: {
    ending: 'verification_failed',
    meaning: endings.verification_failed.meaning,
  },
  no_room: { ending: 'no_room', meaning: 'not enough disk space for the file' },
  file_in_the_way: { ending: 'failed', meaning: 'another file already has this name' },
  is_link: { ending: 'failed', meaning: 'the model is a link to files that shoal does not manage' },
  cannot_link: {
    ending: 'failed',
    meaning: 'an imported file cannot be linked into the models folder',
  },
  damaged_file: { ending: 'failed', meaning: 'the file does not have its recorded SHA-256' },
  file_busy: { ending: 'failed', meaning: 'another operation, such as a pull, is using the file' },
  file_changed: {
    ending: 'failed',
    meaning: 'the file changed or was deleted during the operation',
  },
  no_record: { ending: 'failed', meaning: 'the file was not pulled by shoal' },
  bytes_refused: {
    ending: 'registry_failed',
    meaning: 'the registry has a record of the file but does not send or accept its data',
  },
  file_refused: {
    ending: 'failed',
    meaning: 'the registry received the whole file and rejected it',
  },
  name_taken: { ending: 'failed', meaning: 'another model has this name' },
  other_tab: { ending: 'failed', meaning: 'another browser tab is publishing the model' },
  wrong_files: {
    ending: 'failed',
    meaning: 'a file of the interrupted upload is missing, has changed or cannot be read',
  },

  invalid_setting: {
    ending: 'failed',
    meaning: 'a setting is invalid; the process does not start',
  },
  invalid_network_setting: { ending: 'usage', meaning: 'a network setting is invalid' },
  ambiguous_choice: { ending: 'usage', meaning: 'the reference matches several files' },
  invalid_gguf: {
    ending: 'failed',
    meaning: 'the file is not a GGUF file, or not one that shoal supports',
  },
  invalid_bencode: { ending: 'failed', meaning: 'the data is not a bencoded value' },
}

const codes = Object.keys(errorTable) as ErrorCode[]

/** Whether `error` is a shoal error, with any code. */
export const isAppError = (error: unknown): error is ErrorOf<ErrorCode> => hasCode(error, ...codes)
