/** What every code means: to a program that called a server, to one that ran a command, and to a reader of the documentation. */
import { type ErrorOf, hasCode } from './app-error.ts'
import { daemonReasons } from './daemon-reasons.ts'
import { type Ending, endings } from './endings.ts'
import type { ErrorCode, ErrorDetails } from './error-details.ts'

export { type DaemonReason, daemonReasons } from './daemon-reasons.ts'
export { type Ending, endings, exitCodes } from './endings.ts'

/** The reasons that details may name, if they name any. */
type ReasonOf<D> = D extends { reason: infer R extends string }
  ? R
  : 'code' extends keyof D
    ? Extract<D['code'], string>
    : never

type Row<C extends ErrorCode> = {
  /** The HTTP status with which a server answers it; undefined if none does. */
  status?: number
  /** How a command ends, unless the answer's status says more. */
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
      unknown_host: 'the registry is not served under this hostname',
      chunk_mismatch:
        'the bytes do not match the declared size or SHA-256 of the chunk; none were kept',
    },
  },
  unprocessable: { status: 422, ending: 'failed', meaning: 'the body is well-formed but wrong' },
  unauthenticated: {
    status: 401,
    ending: 'not_signed_in',
    meaning: 'a sign-in is required, or the token is not valid',
  },
  forbidden: {
    status: 403,
    ending: 'not_permitted',
    meaning: 'this account may not do it',
    reasons: {
      bad_signature: 'a presigned link is not valid, or has expired',
      registration_closed: 'only the administrator can create accounts',
      setup_code_required: 'the first account needs the setup code that the registry printed',
      wrong_password: 'the current password is wrong',
    },
  },
  not_found: { status: 404, ending: 'not_found', meaning: 'no such model, file or account' },
  conflict: {
    status: 409,
    ending: 'failed',
    meaning: 'the request conflicts with the current state',
    reasons: {
      chunks_missing: 'an upload cannot be completed before all chunks were sent',
      lease_lost: 'another process took over the file, or it was deleted meanwhile',
      model_not_empty: 'a model that has files is not deleted by this request',
      name_taken: 'another model or account has the name',
      too_many_keys: 'the account has reached its limit of API keys',
      username_reserved: 'the username is reserved',
    },
  },
  too_large: {
    status: 413,
    ending: 'failed',
    meaning: 'it is larger than allowed',
    reasons: { quota_exceeded: 'the account would exceed its quota' },
  },
  too_slow: { status: 408, ending: 'failed', meaning: 'the sender stopped sending' },
  busy: {
    status: 429,
    ending: 'rate_limited',
    meaning: 'too many requests; `Retry-After` says when to try again',
    reasons: {
      rate_limited: 'too many requests, or failed sign-ins, in a short time',
      too_many_searches: 'too many searches at a time',
    },
  },
  unavailable: {
    status: 503,
    ending: 'registry_failed',
    meaning: 'the database or the store cannot be reached, or the registry is shutting down',
  },
  storage_full: {
    status: 503,
    ending: 'registry_failed',
    meaning: 'the disk of the registry is full',
  },

  daemon_refused: {
    ending: 'failed',
    meaning: 'the daemon answers with an error: see its reasons',
  },
  client_gone: { status: 499, ending: 'failed', meaning: 'the client closed the connection' },
  context_length_exceeded: daemonReasons.context_length_exceeded,
  template_failed: daemonReasons.template_failed,
  schema_refused: daemonReasons.schema_refused,
  tool_refused: daemonReasons.tool_refused,
  unknown_token: daemonReasons.unknown_token,
  not_generative: daemonReasons.not_generative,
  model_lost: daemonReasons.model_lost,

  registry_refused: {
    ending: 'failed',
    meaning: 'the registry answers with an error: see its status and reason',
  },
  daemon_gone: { ending: 'unreachable', meaning: 'no daemon answers, or its answer broke off' },
  unreachable: {
    ending: 'unreachable',
    meaning: endings.unreachable.meaning,
    reasons: {
      dns: 'the hostname does not resolve',
      refused: 'nothing listens there, or a firewall rejects connections',
      no_route: 'no route to the host',
      reset: 'the connection broke off',
      timeout: 'no answer in time',
      no_peers: 'with `--only-peers`: no peer has the file, or the tracker answers with an error',
      unknown: 'any other failure of a connection',
    },
  },
  tls_failed: {
    ending: 'tls_failed',
    meaning: endings.tls_failed.meaning,
    reasons: {
      self_signed: 'the certificate is self-signed',
      unknown_issuer: 'the certificate is from an authority that is not trusted here',
      expired: 'the certificate has expired',
      not_yet_valid: 'the certificate is not valid yet',
      wrong_name: 'the certificate is for another name',
      not_tls: 'the server does not speak TLS',
      other: 'any other failure of TLS',
    },
  },
  proxy_failed: {
    ending: 'proxy_failed',
    meaning: endings.proxy_failed.meaning,
    reasons: {
      dns: "the proxy's hostname does not resolve",
      refused: 'nothing listens at the address of the proxy',
      no_route: 'no route to the proxy',
      timeout: 'the proxy does not answer in time',
      auth: 'the proxy requires a password',
      denied: 'the proxy does not allow it',
      answered: 'the proxy cannot reach the registry',
    },
  },
  not_a_registry: {
    ending: 'not_a_registry',
    meaning: endings.not_a_registry.meaning,
    reasons: {
      html: 'a web page, as captive portals answer',
      not_json: 'something other than JSON',
      other_program: 'JSON of another program',
      not_http: 'something other than HTTP',
    },
  },
  redirect_refused: {
    ending: 'redirect_refused',
    meaning: endings.redirect_refused.meaning,
    reasons: {
      loop: 'too many redirects',
      other_host: 'to another host',
      insecure: 'from https to http',
      moved: 'from http to https, with credentials',
    },
  },

  verification_failed: {
    ending: 'verification_failed',
    meaning: endings.verification_failed.meaning,
  },
  no_room: { ending: 'no_room', meaning: 'the disk has too little room for the file' },
  file_in_the_way: { ending: 'failed', meaning: 'another file has the name of the pulled one' },
  is_link: { ending: 'failed', meaning: 'a link to files that are not ours is left alone' },
  damaged_file: { ending: 'failed', meaning: 'a pulled file is not what it was' },
  file_busy: { ending: 'failed', meaning: 'the file is being pulled' },
  file_changed: { ending: 'failed', meaning: 'the file changed while it was being sent' },
  no_record: { ending: 'failed', meaning: 'the file was not pulled by shoal' },
  bytes_refused: {
    ending: 'registry_failed',
    meaning: 'the registry knows the file but does not send or accept its bytes',
  },
  file_refused: { ending: 'failed', meaning: 'the registry has all bytes and refuses the file' },
  name_taken: { ending: 'failed', meaning: 'another model has the name' },
  other_tab: { ending: 'failed', meaning: 'another tab of the browser publishes the model' },
  wrong_files: { ending: 'failed', meaning: 'the chosen files are not those of the upload' },

  invalid_setting: {
    ending: 'failed',
    meaning: 'a setting is invalid: the process does not start',
  },
  invalid_network_setting: { ending: 'usage', meaning: 'a setting of the network is invalid' },
  ambiguous_choice: { ending: 'usage', meaning: 'the reference means several files' },
  invalid_gguf: { ending: 'failed', meaning: 'the file is not a GGUF file that shoal accepts' },
  invalid_bencode: { ending: 'failed', meaning: 'the bytes are not a bencoded value' },
}

const codes = Object.keys(errorTable) as ErrorCode[]

/** Whether `error` is one of ours, whatever its code. */
export const isAppError = (error: unknown): error is ErrorOf<ErrorCode> => hasCode(error, ...codes)
