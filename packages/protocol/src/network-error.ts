import { AppError, type ErrorDetails } from '@shoal/core/errors'

type NetworkCode =
  /** No connection, or a broken one; `no_peers`: no peer in the swarm has the file, or the tracker returned none. */
  | 'unreachable'
  | 'tls_failed'
  /** The forward proxy failed, not the registry: it cannot be reached, requires authentication, or responded itself. */
  | 'proxy_failed'
  /** The response is not from a shoal registry but from a captive portal or another program. */
  | 'not_a_registry'
  /** A redirect that is not followed. */
  | 'redirect_refused'

/** Why there was no usable response from a registry. Determines whether to retry and what to tell the user. Plain data. */
export type NetworkFailure = { [C in NetworkCode]: { code: C } & ErrorDetails[C] }[NetworkCode]

export type TlsReason = ErrorDetails['tls_failed']['reason']

/** There was no usable response. An error returned by the registry itself is an `ApiError`. */
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
