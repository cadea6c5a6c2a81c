/** Faults in which a connection cannot be opened, breaks, or reaches a different server. */
import { type CertificateFiles, testCertificates } from '../../testing/tls-certificates/index.ts'
import { dash, fails, onConnections, onRequests } from './declare.ts'
import * as harms from './harms.ts'
import type { NetworkFault } from './network-fault.ts'
import type { Place } from './places.ts'

const sameServer = dash(
  'A server is unlikely to be replaced by another and then restored during one command.',
)
const firstCall = dash('The first API call has already failed.')
const everyConnection = dash(
  'A fault of a forward proxy affects every request, and does not go away.',
)

/** This name is as long as `localhost`, so that rewriting a response does not change its length. */
const unknownHost = 'q.invalid'

/**
 * Returns the harm that makes requests to a place go to an unknown host. Only the response that contains the address
 * for these requests is changed, so that the address for API calls stays the same.
 */
function unknownHostIn(place: Place) {
  const rewrite = (pattern: RegExp, isNaming: (path: string) => boolean) =>
    harms.rewritten((_, { url = '' }) => isNaming(url), harms.replacing(pattern, unknownHost))
  if (place === 'chunk')
    return rewrite(/localhost(?=:\d+\/blobs)/g, (url) => url.includes('/download/'))
  if (place === 'part')
    return rewrite(/localhost(?=:\d+\/blobs)/g, (url) => /\/(files|upload)$/.test(url))
  if (place === 'tracker')
    return rewrite(/localhost(?=%3A\d+%2Fannounce)/g, (url) => url.includes('/download/'))
  return undefined
}

function tls(
  name: string,
  summary: string,
  { certificate, reason }: { certificate: CertificateFiles; reason: string },
): NetworkFault {
  return {
    name,
    summary,
    over: 'https',
    harm: () => harms.connections({ answers: 'with a certificate', certificate }),
    ends: onConnections(fails('tls_failed', reason), sameServer),
  }
}

function forward(
  name: string,
  summary: string,
  fault: Pick<NetworkFault, 'over' | 'harm' | 'command'> & { end: ReturnType<typeof fails> },
): NetworkFault {
  const { end, ...others } = fault
  return {
    name,
    summary,
    ...others,
    ends: {
      api: { 'goes away': everyConnection, stays: { api: end } },
      chunk: everyConnection,
      push: { 'goes away': everyConnection, stays: { start: end } },
      torrent: everyConnection,
      tracker: everyConnection,
    },
  }
}

export const connectionFaults: NetworkFault[] = [
  {
    name: 'dns',
    summary: 'Name that does not resolve',
    command: ({ address }, place) =>
      place === 'api' ? { address: address.replace('localhost', unknownHost) } : {},
    harm: (place) => unknownHostIn(place),
    ends: {
      api: { stays: { api: fails('unreachable', 'dns') } },
      chunk: { stays: { chunk: fails('unreachable', 'dns') } },
      push: { stays: { part: fails('unreachable', 'dns') } },
      torrent: dash('The .torrent file is served from the same host and port as the API.'),
      tracker: { stays: { tracker: fails('unreachable', 'dns') } },
    },
  },
  {
    name: 'refused',
    summary: 'Closed port',
    harm: () => harms.connections({ answers: 'refused' }, 500),
    ends: onConnections(fails('unreachable', 'refused')),
  },
  {
    name: 'reset',
    summary: 'Connection reset before a response',
    harm: () => harms.resetBeforeAnswer,
    ends: onRequests(fails('unreachable', 'reset')),
  },
  {
    name: 'reset-connect',
    summary: 'Every connection reset immediately',
    harm: () => harms.connections({ answers: 'reset' }),
    ends: onConnections(fails('unreachable', 'reset')),
  },
  {
    name: 'half-open',
    summary: 'Request without any response',
    harm: () => harms.halfOpen,
    times: 1,
    ends: onRequests(fails('unreachable', 'timeout')),
  },
  {
    name: 'not-http',
    summary: 'Server that does not speak HTTP',
    harm: () => harms.connections({ answers: 'a banner' }),
    ends: onConnections(fails('not_a_registry', 'not_http'), sameServer),
  },
  {
    name: 'tls-for-http',
    summary: 'TLS where HTTP is expected',
    harm: () => harms.connections({ answers: 'TLS' }),
    ends: onConnections(fails('unreachable', 'reset'), sameServer),
  },
  {
    name: 'http-for-tls',
    summary: 'HTTP where TLS is expected',
    over: 'https',
    harm: () => harms.connections({ answers: 'plain HTTP' }),
    ends: onConnections(fails('tls_failed', 'not_tls'), sameServer),
  },
  tls('tls-self-signed', 'Self-signed certificate', {
    certificate: testCertificates.selfSigned,
    reason: 'self_signed',
  }),
  tls('tls-expired', 'Expired certificate', {
    certificate: testCertificates.expired,
    reason: 'expired',
  }),
  tls('tls-not-yet-valid', 'Certificate that is not valid yet', {
    certificate: testCertificates.notYetValid,
    reason: 'not_yet_valid',
  }),
  tls('tls-wrong-name', 'Certificate for another name', {
    certificate: testCertificates.wrongName,
    reason: 'wrong_name',
  }),
  {
    name: 'tls-unknown-issuer',
    summary: 'Certificate of an unknown issuer',
    over: 'https',
    command: () => ({ env: { SHOAL_CA_FILE: '' } }),
    ends: {
      api: { stays: { api: fails('tls_failed', 'unknown_issuer') } },
      chunk: firstCall,
      push: firstCall,
      torrent: firstCall,
      tracker: firstCall,
    },
  },
  forward('proxy-refused', 'Forward proxy that is not running', {
    over: 'proxied http',
    harm: () => harms.connections({ answers: 'refused' }),
    end: fails('proxy_failed', 'refused'),
  }),
  forward('proxy-auth', 'Forward proxy that requires a password (407)', {
    over: 'proxied https',
    harm: () =>
      harms.toConnect('407 Proxy Authentication Required', 'proxy-authenticate: Basic\r\n'),
    end: fails('proxy_failed', 'auth'),
  }),
  forward('proxy-page', 'Forward proxy that responds with 502 and a web page', {
    over: 'proxied https',
    harm: () =>
      harms.toConnect('502 Bad Gateway', 'content-type: text/html\r\n', '<html>no way</html>'),
    end: fails('proxy_failed', 'answered'),
  }),
]
