/** A sentence and a hint for each kind of network failure. */
import { isLoopback } from '@shoal/core/addresses'
import type { NetworkFailure } from '@shoal/protocol/client'
import { Failure } from '../terminal/failure.ts'
import { toTerminalLine } from '../terminal/terminal-text.ts'

type Code = NetworkFailure['code']
type FailureReason<C extends Code> = (NetworkFailure & { code: C })['reason']
/** `host`: the host and port of the registry or proxy. `detail`: text from the system, OpenSSL or the response. */
type FailureFormatter = (host: string, detail: string) => [sentence: string, hint: string]

const elsewhere =
  'Start a registry with shoal registry, or specify another registry with --registry.'
const again = 'Run the same command again. If the error persists, check the network.'
const trustIt = 'If you trust the certificate, pass it with --cacert <file> or SHOAL_CA_FILE.'
const proxySettings = 'To change the proxy, set HTTP_PROXY, HTTPS_PROXY and NO_PROXY.'
const anotherAddress = 'Check the address, or specify another registry with --registry.'

const withoutPort = (host: string) => host.replace(/:\d+$/, '')

const failureFormatters: { [C in Code]: Record<FailureReason<C>, FailureFormatter> } = {
  unreachable: {
    dns: (host, detail) =>
      detail.includes('EAI_AGAIN')
        ? [`The DNS lookup of ${withoutPort(host)} failed.`, 'Check your network connection.']
        : [
            `The host ${withoutPort(host)} was not found.`,
            "Check the address and your network's DNS.",
          ],
    refused: (host) =>
      isLoopback(new URL(`http://${host}`).hostname)
        ? [`Nothing is running at ${host}.`, elsewhere]
        : [
            `${host} refused the connection.`,
            'Check the address and the port, whether the registry is running, and whether a firewall rejects connections.',
          ],
    no_route: (host) => [
      `${host} is unreachable from this machine.`,
      'Check that this machine is on the same network or VPN as the registry.',
    ],
    reset: (host) => [`The connection to ${host} was lost.`, again],
    timeout: (host) => [
      `${host} did not respond in time.`,
      'The registry may be overloaded, or a firewall may be blocking the connection. Try again later.',
    ],
    no_peers: (_, detail) => [
      `No peer to download from: ${detail}.`,
      'Try again later, or without --only-peers.',
    ],
    unknown: (host, detail) => [`No response from ${host}: ${detail}.`, again],
  },
  tls_failed: {
    self_signed: (host) => [`The certificate of ${host} is self-signed.`, trustIt],
    unknown_issuer: (host) => [
      `The certificate of ${host} is from an unknown authority.`,
      'If you trust the authority, pass its certificate with --cacert <file> or SHOAL_CA_FILE.',
    ],
    expired: (host) => [
      `The certificate of ${host} has expired.`,
      "Check this machine's clock, or ask the operator to renew the certificate.",
    ],
    not_yet_valid: (host) => [
      `The certificate of ${host} is not valid yet.`,
      "Check this machine's clock.",
    ],
    wrong_name: (host, detail) => [
      `The certificate of ${host} is for a different hostname.`,
      `${detail}\nUse a hostname from the certificate.`,
    ],
    not_tls: (host) => [
      `${host} does not use TLS.`,
      `To connect without TLS, pass --registry http://${host}`,
    ],
    other: (host, detail) => [`The secure connection to ${host} failed: ${detail}.`, again],
  },
  proxy_failed: {
    dns: (host) => [`The proxy ${withoutPort(host)} was not found.`, proxySettings],
    refused: (host) => [`No proxy is running at ${host}.`, proxySettings],
    no_route: (host) => [`The proxy ${host} is unreachable from this machine.`, proxySettings],
    timeout: (host) => [`The proxy ${host} did not respond in time.`, proxySettings],
    auth: (host) => [
      `The proxy ${host} requires a username and password.`,
      `Add them to the proxy's address: http://user:password@${host}`,
    ],
    denied: (host, detail) => [`The proxy ${host} denied the request: ${detail}.`, proxySettings],
    answered: (host, detail) => [
      `The proxy ${host} could not connect to the registry: ${detail}.`,
      proxySettings,
    ],
  },
  not_a_registry: {
    html: (host, detail) => [
      `${host} returned a web page instead of a registry response: ${detail}.`,
      'The page may be from the network, if it requires a sign-in (open any web page in a browser), or from a proxy or firewall in front of the registry. Otherwise, check the address.',
    ],
    not_json: (host, detail) => [
      `${host} did not respond like a shoal registry: ${detail}.`,
      anotherAddress,
    ],
    other_program: (host, detail) => [
      `${host} is not a shoal registry: ${detail}.`,
      anotherAddress,
    ],
    not_http: (host) => [
      `${host} does not use plain HTTP.`,
      `To connect with TLS, pass --registry https://${host}`,
    ],
  },
  redirect_refused: {
    loop: (host, detail) => [
      `${host} redirects in a loop: ${detail}.`,
      "Report this to the registry's operator.",
    ],
    other_host: (host, detail) => [
      `${host} redirects to another host: ${detail}.`,
      'The redirect was not followed. If the network requires a sign-in, open any web page in a browser. If the other host is the registry, pass its address with --registry.',
    ],
    insecure: (host, detail) => [
      `${host} redirects from https to http: ${detail}.`,
      "Such redirects are never followed. Report this to the registry's operator.",
    ],
    moved: (host, detail) => [
      `${host} has moved: ${detail}.`,
      'Pass the new address with --registry, or save it: shoal config set registry <address>',
    ],
  },
}

export function networkFailure(failure: NetworkFailure, cause?: unknown): Failure {
  const { code, reason, host } = failure
  const detail = toTerminalLine(failure.detail).replace(/[.\s]+$/, '')
  const formatFailure = (failureFormatters[code] as Record<string, FailureFormatter>)[
    reason
  ] as FailureFormatter
  const [sentence, hint] = formatFailure(toTerminalLine(host), detail)
  return new Failure(code, sentence, { hint, details: { reason, host, detail }, cause })
}
