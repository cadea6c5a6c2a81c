/** A sentence for each way in which the network can fail, and a hint at what to do. */
import type { NetworkFailure } from '@shoal/protocol/client'
import { Failure } from '../terminal/failure.ts'
import { toTerminalLine } from '../terminal/terminal-text.ts'

type Code = NetworkFailure['code']
type FailureReason<C extends Code> = (NetworkFailure & { code: C })['reason']
/** `host`, with its port, is the registry's or the proxy's. `detail` comes from the system, OpenSSL or the answer. */
type FailureFormatter = (host: string, detail: string) => [sentence: string, hint: string]

const elsewhere = 'Start one with shoal registry, or name another with --registry.'
const again =
  'Run the same command again. If it repeats, look at the network between here and there.'
const trustIt = 'If you trust it, name the certificate: --cacert <file>, or SHOAL_CA_FILE.'
const proxySettings = 'HTTP_PROXY, HTTPS_PROXY and NO_PROXY say which hosts go through a proxy.'
const anotherAddress = 'Is the address right? Name another with --registry.'

const failureFormatters: { [C in Code]: Record<FailureReason<C>, FailureFormatter> } = {
  unreachable: {
    dns: (host) => [
      `There is no machine called ${host.replace(/:\d+$/, '')}.`,
      'Look at the address, and at the network: its DNS does not know the name.',
    ],
    refused: (host) => [`Nothing answers at ${host}.`, `Is it running there? ${elsewhere}`],
    no_route: (host) => [
      `There is no way to ${host} from here.`,
      'Is this machine on the network, or on the VPN, where the registry is?',
    ],
    reset: (host) => [`The connection to ${host} broke off.`, again],
    timeout: (host) => [
      `${host} does not answer in time.`,
      'It may be overloaded, or a firewall may swallow what is sent. Try again later.',
    ],
    no_peers: (_, detail) => [
      `No peer to download from: ${detail}.`,
      'Try again when somebody shares it, or without --only-peers.',
    ],
    unknown: (host, detail) => [`No answer from ${host}: ${detail}.`, again],
  },
  tls_failed: {
    self_signed: (host) => [`The certificate of ${host} is self-signed.`, trustIt],
    unknown_issuer: (host) => [
      `The certificate of ${host} is from an authority that is not known here.`,
      'If you trust it, name its certificate: --cacert <file>, or SHOAL_CA_FILE.',
    ],
    expired: (host) => [
      `The certificate of ${host} has expired.`,
      'Its operator has to renew it. Or is the clock of this machine wrong?',
    ],
    not_yet_valid: (host) => [
      `The certificate of ${host} is not valid yet.`,
      'Is the clock of this machine wrong?',
    ],
    wrong_name: (host, detail) => [
      `The certificate of ${host} is for another name.`,
      `${detail}\nCall the registry by a name in its certificate.`,
    ],
    not_tls: (host) => [
      `${host} does not speak TLS.`,
      `If it has no https, say so: --registry http://${host}`,
    ],
    other: (host, detail) => [`There is no secure connection to ${host}: ${detail}.`, again],
  },
  proxy_failed: {
    dns: (host) => [`There is no proxy called ${host.replace(/:\d+$/, '')}.`, proxySettings],
    refused: (host) => [`Nothing answers at the proxy ${host}.`, proxySettings],
    no_route: (host) => [`There is no way to the proxy ${host} from here.`, proxySettings],
    timeout: (host) => [`The proxy ${host} does not answer in time.`, proxySettings],
    auth: (host) => [
      `The proxy ${host} wants a user name and a password.`,
      `Put them into the proxy’s address: http://user:password@${host}`,
    ],
    denied: (host, detail) => [`The proxy ${host} does not allow it: ${detail}.`, proxySettings],
    answered: (host, detail) => [
      `The proxy ${host} does not let us through to the registry: ${detail}.`,
      proxySettings,
    ],
  },
  not_a_registry: {
    html: (host) => [
      `${host} answers with a web page where a registry would not.`,
      'A network that wants a sign-in first does that: open any page in a browser. Or the address is another one.',
    ],
    not_json: (host, detail) => [
      `${host} does not answer as a shoal registry: ${detail}.`,
      anotherAddress,
    ],
    other_program: (host, detail) => [
      `${host} is not a shoal registry: ${detail}.`,
      anotherAddress,
    ],
    not_http: (host) => [
      `${host} does not speak HTTP.`,
      `If it has https, say so: --registry https://${host}`,
    ],
  },
  redirect_refused: {
    loop: (host, detail) => [`${host} redirects without end: ${detail}.`, 'Tell its operator.'],
    other_host: (host, detail) => [
      `${host} sends us to another host: ${detail}.`,
      'If that is the registry, name it with --registry; nothing was sent there.',
    ],
    insecure: (host, detail) => [
      `${host} sends us from https to http: ${detail}.`,
      'That is never followed. Tell its operator.',
    ],
    moved: (host, detail) => [
      `${host} has moved: ${detail}.`,
      'Name the new address with --registry, or keep it: shoal config set registry <address>',
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
