/** Interprets connection errors and responses from intermediaries. */
import { describePage } from '@shoal/core/errors'
import { NetworkError, type NetworkFailure, type TlsReason } from '@shoal/protocol/client'

/** The URL of a request, and the URL of its proxy if it has one. */
export type Asked = { url: URL; proxy: string | undefined }

type Unreachable = NetworkFailure & { code: 'unreachable' }

const unreachable: Record<string, Unreachable['reason']> = {
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  EAI_FAIL: 'dns',
  EAI_NODATA: 'dns',
  EAI_NONAME: 'dns',
  ECONNREFUSED: 'refused',
  EACCES: 'refused', // rejected by a firewall on this machine
  EPERM: 'refused',
  EHOSTUNREACH: 'no_route',
  EHOSTDOWN: 'no_route',
  ENETUNREACH: 'no_route',
  ENETDOWN: 'no_route',
  EADDRNOTAVAIL: 'no_route',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'reset',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
}

/** Error codes from Node and OpenSSL (`X509_V_ERR_…`). */
const tlsReasons: Record<string, TlsReason> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'self_signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'unknown_issuer',
  UNABLE_TO_GET_ISSUER_CERT: 'unknown_issuer',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'unknown_issuer',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'unknown_issuer',
  CERT_UNTRUSTED: 'unknown_issuer',
  CERT_HAS_EXPIRED: 'expired',
  CERT_NOT_YET_VALID: 'not_yet_valid',
  ERR_TLS_CERT_ALTNAME_INVALID: 'wrong_name',
  HOSTNAME_MISMATCH: 'wrong_name',
  ERR_SSL_WRONG_VERSION_NUMBER: 'not_tls',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'not_tls',
  ERR_SSL_HTTP_REQUEST: 'not_tls',
}

/** Converts an error thrown by undici or Node to the network failure that it indicates. */
export function toNetworkFailure(error: unknown, { url, proxy }: Asked): NetworkFailure {
  if (error instanceof NetworkError) return error.failure
  const { code, message } = codeAndMessage(error)
  const host = url.host
  const tls =
    tlsReasons[code] ?? (/^(CERT_|ERR_SSL_|ERR_TLS_|EPROTO)/.test(code) ? 'other' : undefined)
  if (tls !== undefined) return { code: 'tls_failed', reason: tls, host, detail: message }
  if (code.startsWith('HPE_') || (error instanceof Error && error.name === 'HTTPParserError')) {
    return { code: 'not_a_registry', reason: 'not_http', host, detail: message }
  }
  if (proxy !== undefined) {
    const ofProxy = proxyReason(code, message)
    if (ofProxy) {
      const { host: proxyHost } = new URL(proxy)
      return { code: 'proxy_failed', reason: ofProxy, host: proxyHost, detail: message }
    }
  }
  return { code: 'unreachable', reason: unreachable[code] ?? 'unknown', host, detail: message }
}

/** What servers with a certificate reply to a request without TLS: nginx, Apache, and servers written in Go. */
const tlsRequired = /plain HTTP|HTTP request to an HTTPS server/i

/**
 * Returns the failure if a response cannot be from a registry or its storage; undefined if it can. `text`: the body, if
 * it has been read.
 */
export function failureOfAnswer(
  { url, proxy }: Asked,
  status: number,
  contentType: string | undefined,
  text = '',
): NetworkFailure | undefined {
  const detail = describePage(status, text)
  if (status === 400 && url.protocol === 'http:' && tlsRequired.test(text)) {
    return { code: 'not_a_registry', reason: 'not_http', host: url.host, detail }
  }
  const isPage = contentType?.startsWith('text/html')
  // A proxy that cannot connect to the registry, or refuses to do so, sends its own response. This is impossible within
  // a tunnel.
  const mayBeProxy = proxy !== undefined && url.protocol === 'http:'
  const reason = mayBeProxy ? findProxyReason(status) : undefined
  if (proxy && reason && (isPage || status === 407)) {
    return { code: 'proxy_failed', reason, host: new URL(proxy).host, detail }
  }
  // A captive portal (RFC 6585, section 6) or another gateway responds with its own page. A page with status 408, 413
  // or 429 may instead be from the registry's reverse proxy.
  const isStranger = isPage && status >= 400 && status < 500 && ![408, 413, 429].includes(status)
  if (status !== 511 && !isStranger) return undefined
  return { code: 'not_a_registry', reason: 'html', host: url.host, detail }
}

function findProxyReason(status: number): 'auth' | 'denied' | 'answered' | undefined {
  if (status === 407) return 'auth'
  if (status === 403) return 'denied'
  return [502, 503, 504].includes(status) ? 'answered' : undefined
}

type ProxyReason = (NetworkFailure & { code: 'proxy_failed' })['reason']

/**
 * Why the proxy failed; undefined for a failure that may be the registry's. A failure to connect is always the proxy's,
 * because this machine connects only to the proxy.
 */
function proxyReason(code: string, message: string): ProxyReason | undefined {
  const [, status] = /^Proxy response \((\d+)\)/.exec(message) ?? []
  if (status !== undefined) return findProxyReason(Number(status)) ?? 'answered'
  if (/Proxy Authentication Required/.test(message)) return 'auth'
  const reason = unreachable[code]
  if (reason === 'timeout') return code === 'UND_ERR_CONNECT_TIMEOUT' ? 'timeout' : undefined
  return reason === 'dns' || reason === 'refused' || reason === 'no_route' ? reason : undefined
}

/**
 * Finds the code and message in the error or its cause: undici wraps some errors, and Node groups the errors for
 * several addresses.
 */
function codeAndMessage(error: unknown): { code: string; message: string } {
  if (!(error instanceof Error)) return { code: '', message: String(error) }
  const { code, message, cause } = error as NodeJS.ErrnoException
  const first = error instanceof AggregateError ? error.errors[0] : undefined
  if (message === '' && first instanceof Error) return codeAndMessage(first)
  const isKnown = typeof code === 'string' && (code in unreachable || code in tlsReasons)
  const inner = cause instanceof Error && !isKnown ? codeAndMessage(cause) : undefined
  if (inner && inner.code !== '') return inner
  return { code: typeof code === 'string' ? code : '', message: message || String(code) }
}
