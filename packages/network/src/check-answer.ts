import {
  type ApiAnswer,
  type ApiRequest,
  NetworkError,
  type NetworkFailure,
  problemIn,
} from '@shoal/protocol/client'

import { memberOf } from './endpoints.ts'

type Reason = (NetworkFailure & { code: 'not_a_registry' })['reason']

/** Throws a `NetworkError` for an answer that no registry gives: a captive portal's, or another program's. */
export function checkAnswer(url: URL, call: ApiRequest, answer: ApiAnswer): void {
  const found = strangeness(call, answer)
  if (found) throw new NetworkError({ code: 'not_a_registry', host: url.host, ...found })
}

type Strangeness = { reason: Reason; detail: string }

function strangeness(call: ApiRequest, answer: ApiAnswer): Strangeness | undefined {
  const { headers } = call
  const member = memberOf(call)
  const { status } = answer
  const type = answer.headers.get('content-type') ?? ''
  const isPage = type.startsWith('text/html')
  const stranger = isPage ? 'html' : 'other_program'

  if (status >= 400) {
    // A proxy before a registry that is away answers without JSON, and so does one that limits.
    const mayBeProxy = (status >= 500 && status !== 511) || [408, 413, 429].includes(status)
    if (mayBeProxy || problemIn(textOf(answer))) return undefined
    return { reason: stranger, detail: `it answered ${status}` }
  }
  if (status >= 300 || answer.body.length === 0) return undefined
  if (headers.accept === 'application/x-bittorrent') {
    // Bencoded, a dictionary begins so (BEP 3).
    if (answer.body[0] === 'd'.charCodeAt(0)) return undefined
    return { reason: stranger, detail: 'its answer is no torrent' }
  }
  if (headers.accept !== 'application/json') return undefined
  const value = jsonIn(textOf(answer))
  if (value === undefined) {
    return { reason: isPage ? 'html' : 'not_json', detail: 'its answer is no JSON' }
  }
  const isKnown = typeof value === 'object' && value !== null && (!member || member in value)
  if (isKnown) return undefined
  return { reason: 'other_program', detail: `its answer has no “${member}”` }
}

const textOf = ({ body }: ApiAnswer) => Buffer.from(body).toString()

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // the caller says so
  }
}
