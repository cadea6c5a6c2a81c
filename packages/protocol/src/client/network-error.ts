import { AppError, type ErrorDetails } from '@shoal/core/errors'

type NetworkCode =
  /**
   * There was no connection, or the connection broke. The reason `no_peers` means that no peer in the swarm has the
   * file, or that the tracker returned an error.
   */
  | 'unreachable'
  | 'tls_failed'
  /**
   * The forward proxy, not the registry, failed: it cannot be reached, requires authentication, or responded in place
   * of the registry.
   */
  | 'proxy_failed'
  /** The response is not from a shoal registry but from a captive portal or another program. */
  | 'not_a_registry'
  /** The response is a redirect that must not be followed. */
  | 'redirect_refused'

/**
 * The reason why there was no usable response from a registry, as a plain object. Callers use it to decide whether to
 * retry, and which message to show.
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

/** Whether a failure may be temporary, in which case a retry may succeed. */
export function isTransient({ code, reason }: Pick<NetworkFailure, 'code' | 'reason'>): boolean {
  if (code === 'proxy_failed') return reason !== 'auth' && reason !== 'denied'
  return code === 'unreachable'
}
