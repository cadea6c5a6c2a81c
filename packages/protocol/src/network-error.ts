/** Why a registry gave no usable answer. Decides whether to retry and what to tell the user. Plain data. */
export type NetworkFailure = {
  /** The host and port of the registry, or of the proxy if the proxy failed. */
  host: string
  /** The message of the system, OpenSSL or the answer, such as `connect ECONNREFUSED 127.0.0.1:8000`. */
  detail: string
} & Cause

type Cause =
  /** No connection, or one that broke; `no_peers`: no peer in the swarm has the file, or the tracker names none. */
  | {
      code: 'unreachable'
      reason: 'dns' | 'refused' | 'no_route' | 'reset' | 'timeout' | 'no_peers' | 'unknown'
    }
  | { code: 'tls_failed'; reason: TlsReason }
  /** The forward proxy failed, not the registry: it cannot be reached, requires a password, or answered itself. */
  | {
      code: 'proxy_failed'
      reason: 'dns' | 'refused' | 'no_route' | 'timeout' | 'auth' | 'denied' | 'answered'
    }
  /** Something other than a shoal registry answered: a captive portal, or another program. */
  | { code: 'not_a_registry'; reason: 'html' | 'not_json' | 'other_program' | 'not_http' }
  /** A redirect that is not followed. */
  | { code: 'redirect_refused'; reason: 'loop' | 'other_host' | 'insecure' | 'moved' }

export type TlsReason =
  | 'self_signed'
  | 'unknown_issuer'
  | 'expired'
  | 'not_yet_valid'
  | 'wrong_name'
  | 'not_tls'
  | 'other'

/** No usable answer came. An error that the registry itself answered is an `ApiError`. */
export class NetworkError extends Error {
  override name = 'NetworkError'
  readonly failure: NetworkFailure
  constructor(failure: NetworkFailure, options?: ErrorOptions) {
    super(`${failure.host}: ${failure.detail}`, options)
    this.failure = failure
  }
}

/** Whether a failure may go away by itself, so that a retry makes sense. */
export function isTransient({ code, reason }: Pick<NetworkFailure, 'code' | 'reason'>): boolean {
  if (code === 'proxy_failed') return reason !== 'auth' && reason !== 'denied'
  return code === 'unreachable'
}
