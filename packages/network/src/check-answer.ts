import { describePage } from '@shoal/core/errors'
import {
  type ApiAnswer,
  type ApiRequest,
  NetworkError,
  type NetworkFailure,
  problemIn,
} from '@shoal/protocol/client'

type Reason = (NetworkFailure & { code: 'not_a_registry' })['reason']

/**
 * Throws a `NetworkError` if the response cannot be from a registry, for example if it is from a captive portal or
 * another program.
 */
export function checkAnswer(url: URL, call: ApiRequest, answer: ApiAnswer): void {
  const found = strangeness(call, answer)
  if (found) throw new NetworkError({ code: 'not_a_registry', host: url.host, ...found })
}

/** The errors of FastAPI and Django for unknown endpoints, which also have a `detail`. Many use a registry's port, 8000. */
const otherDetails = /^(Not [Ff]ound|Method .*[Nn]ot [Aa]llowed)\.?$/

type Strangeness = { reason: Reason; detail: string }

function strangeness(call: ApiRequest, answer: ApiAnswer): Strangeness | undefined {
  const { headers, method } = call
  const { marker, isList = false } = call.route ?? {}
  const { status } = answer
  const type = answer.headers.get('content-type') ?? ''
  const isPage = type.startsWith('text/html')
  const stranger = isPage ? 'html' : 'other_program'
  const isForTorrents = headers.accept === 'application/x-bittorrent'
  // A bencoded dictionary begins with “d” (BEP 3). A tracker may send a failure reason with any status.
  const isRedirect = status >= 300 && status < 400
  if (isForTorrents && !isRedirect && answer.body[0] === 'd'.charCodeAt(0)) return undefined

  if (status >= 400) {
    // If the registry is down, or if its reverse proxy limits requests, the proxy's own response need not contain JSON.
    const mayBeProxy = (status >= 500 && status !== 511) || [408, 413, 429].includes(status)
    const text = decodeText(answer)
    const problem = problemIn(text)
    if (mayBeProxy || (problem && !otherDetails.test(problem.detail))) return undefined
    return { reason: stranger, detail: describePage(status, text) }
  }
  if (status >= 300) {
    return { reason: 'other_program', detail: `status ${status} without a Location header` }
  }
  if (answer.body.length === 0) {
    const mayBeEmpty = method !== 'GET' && marker === undefined
    return mayBeEmpty ? undefined : { reason: 'other_program', detail: 'the response is empty' }
  }
  if (isForTorrents) return { reason: stranger, detail: 'the response is not bencoded' }
  if (headers.accept !== 'application/json') return undefined
  const value = jsonIn(decodeText(answer))
  if (value === undefined) {
    const detail = isPage ? describePage(status, decodeText(answer)) : 'the response is not JSON'
    return { reason: isPage ? 'html' : 'not_json', detail }
  }
  const items = isList ? value : [value]
  if (!Array.isArray(items))
    return { reason: 'other_program', detail: 'the response is not a list' }
  if (items.every((item) => hasMember(item, marker))) return undefined
  return { reason: 'other_program', detail: `the response has no “${marker}”` }
}

const hasMember = (value: unknown, member: string | undefined) =>
  typeof value === 'object' && value !== null && (member === undefined || member in value)

const decodeText = ({ body }: ApiAnswer) => Buffer.from(body).toString()

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // the caller reports it
  }
}
