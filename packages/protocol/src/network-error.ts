import { AppError, type ErrorDetails } from '@shoal/core/errors'

type NetworkCode =
  /**
   * There was no connection, or it broke. `no_peers`: no peer in the swarm has the file, or the tracker returned no
   * peers.
   */
  | 'unreachable'
  | 'tls_failed'
  /**
   * The forward proxy failed, not the registry: the proxy cannot be reached, requires authentication, or responded
   * itself.
   */
  | 'proxy_failed'
  /** The response is not from a shoal registry but from a captive portal or another program. */
  | 'not_a_registry'
  /** The response is a redirect that must not be followed. */
  | 'redirect_refused'

/**
 * Why there was no usable response from a registry. Determines whether to retry, and what to tell the user. A plain
 * object.
 */
export type NetworkFailure = { [C in NetworkCode]: { code: C } & ErrorDetails[C] }[NetworkCode]

export type TlsReason = ErrorDetails['tls_failed']['reason']

/** The error if there was no usable response. An error returned by the registry itself is an `ApiError`. */
export class NetworkError extends AppError<NetworkCode> {
  constructor({ code, ...details }: NetworkFailure, options?: ErrorOptions) {
    super(code, `${details.host}: ${details.detail}`, details, options)
  }

  get failure(): NetworkFailure {
    return { code: this.code, ...this.details } as NetworkFailure
  }
}

/** Whether a failure may be temporary, so that a retry makes sense. */
export function isTransient({ code, reason }: Pick<NetworkFailure, 'code' | 'reason'>): boolean {
  if (code === 'proxy_failed') return reason !== 'auth' && reason !== 'denied'
  return code === 'unreachable'
}
