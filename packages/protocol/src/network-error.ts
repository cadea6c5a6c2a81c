/** Why no usable answer of a registry came: what decides whether to try again, and what to tell people. Plain data. */
export type NetworkFailure = {
  /** The host and port that were asked; of the proxy where it is the proxy's failure. */
  host: string
  /** What the system, OpenSSL or the answer said: `connect ECONNREFUSED 127.0.0.1:8000`. */
  detail: string
} & Cause

type Cause =
  /** Nobody could be spoken to, or the connection broke; `no_peers`: nobody in the swarm has the file. */
  | {
      code: 'unreachable'
      reason: 'dns' | 'refused' | 'no_route' | 'reset' | 'timeout' | 'no_peers' | 'unknown'
    }
  | { code: 'tls_failed'; reason: TlsReason }
  /** The forward proxy, not the registry: it cannot be reached, wants a password, or answers in the registry's place. */
  | {
      code: 'proxy_failed'
      reason: 'dns' | 'refused' | 'no_route' | 'timeout' | 'auth' | 'denied' | 'answered'
    }
  /** Something answers, and it is not a shoal registry: a captive portal, another program. */
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

/** No usable answer came. An answer of the registry that says no is an `ApiError`. */
export class NetworkError extends Error {
  override name = 'NetworkError'
  readonly failure: NetworkFailure
  constructor(failure: NetworkFailure, options?: ErrorOptions) {
    super(`${failure.host}: ${failure.detail}`, options)
    this.failure = failure
  }
}

/** Whether it may go away by itself, so that trying again makes sense. */
export function isTransient({ code, reason }: Pick<NetworkFailure, 'code' | 'reason'>): boolean {
  if (code === 'proxy_failed') return reason !== 'auth' && reason !== 'denied'
  return code === 'unreachable'
}
