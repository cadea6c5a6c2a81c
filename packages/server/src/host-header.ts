/** The host that a request is meant for, as RFC 9112 §3.2 defines it for both ways in. */
import type { IncomingMessage } from 'node:http'

/** Characters that separate the parts of a URL, or are not allowed in it, and therefore never occur in a host. */
const notInHost = /[\s/?#@\\]/

/**
 * Returns the reason why a request must be refused with 400: `Host` is sent more than once or is malformed, or an
 * HTTP/1.1 request has none. Node would otherwise use the first of several values, and a proxy the last one.
 */
export function findHostProblem({
  rawHeaders,
  headers,
  httpVersion,
}: IncomingMessage): string | undefined {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  if (count > 1) return 'Host must be sent only once'
  if (count === 0) return httpVersion === '1.1' ? 'the header Host is missing' : undefined
  return notInHost.test(headers.host ?? '')
    ? 'Host is not a hostname with an optional port'
    : undefined
}

/**
 * Returns a request's URL without scheme and host. If the request target is in absolute form, its host replaces that in
 * `Host`, which must be ignored (RFC 9112 §3.2.2).
 */
export function toOriginForm({ url = '/', headers }: IncomingMessage): string {
  const [absolute, host] = /^https?:\/\/([^/?#]*)/i.exec(url) ?? []
  if (absolute === undefined) return url
  headers.host = host
  return url.slice(absolute.length) || '/'
}
