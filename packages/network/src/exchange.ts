/** Sends one API call, following redirects, and reads the complete response. */
import { gunzipSync } from 'node:zlib'
import { type ApiAnswer, type ApiRequest, NetworkError } from '@shoal/protocol/client'
import type { Dispatcher } from 'undici'
import { checkAnswer } from './check-answer.ts'
import type { Network } from './dispatcher.ts'
import { readBody } from './read-body.ts'
import { readHead } from './read-head.ts'
import { apiRedirect, followRedirects, redirectRefused, type Step } from './redirect.ts'
import { sendRequest } from './send-request.ts'
import { type Asked, toNetworkFailure } from './to-network-failure.ts'

type Options = {
  /** Whether the headers or the URL contain credentials. Default: whether there is an `authorization` header. */
  hasCredentials?: boolean
  /**
   * Maximum size of a response in bytes, both before and after decompression. The default allows for the manifest of a
   * 10 TB file.
   */
  maxBytes?: number
}

/**
 * Resolves with the response. If the call fails, rejects with a `NetworkError`, even if the call's signal was aborted.
 */
export function exchange(
  network: Network,
  call: ApiRequest,
  { hasCredentials = 'authorization' in call.headers, maxBytes = 64 * 1024 * 1024 }: Options = {},
): Promise<ApiAnswer> {
  return followRedirects(
    network,
    new URL(call.url),
    (asked) => exchangeOnce(network, call, asked, maxBytes),
    (from, redirect) => {
      const to = apiRedirect(from, redirect, { hasCredentials })
      // 301, 302 and 303 turn a POST into a GET (RFC 9110, section 15.4), which is a different call.
      if (call.method !== 'GET' && ![307, 308].includes(redirect.status)) {
        throw redirectRefused(from, 'moved', `redirect to ${to.origin}`)
      }
      return to
    },
  )
}

async function exchangeOnce(
  network: Network,
  call: ApiRequest,
  asked: Asked,
  maxBytes: number,
): Promise<Step<ApiAnswer>> {
  const { method, headers, body, signal } = call
  const { url } = asked
  try {
    const response = await sendRequest(network, url, {
      method: method as Dispatcher.HttpMethod,
      headers: { ...headers, 'accept-encoding': 'gzip' },
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    })
    const bytes = await readAnswer(response, url, maxBytes)
    const status = response.statusCode
    const text = status >= 400 ? Buffer.from(bytes).toString() : undefined
    const { header, redirect, failure } = readHead(asked, status, response.headers, text)
    if (failure) throw new NetworkError(failure)
    if (redirect) return { redirect }
    const headerReader = { get: (name: string) => header(name) ?? null }
    const answer = { status, headers: headerReader, body: bytes }
    checkAnswer(url, call, answer)
    return { result: answer }
  } catch (error) {
    if (error instanceof NetworkError) throw error
    throw new NetworkError(toNetworkFailure(error, asked), { cause: error })
  }
}

async function readAnswer(
  response: Dispatcher.ResponseData,
  url: URL,
  maxBytes: number,
): Promise<Uint8Array> {
  const body = await readBody(response.body, maxBytes)
  if (!body) throw notReadable(url, 'the response is too long')
  const encoding = response.headers['content-encoding']?.toString() ?? 'identity'
  if (encoding === 'identity' || body.length === 0) return body
  if (encoding !== 'gzip')
    throw notReadable(url, `the response has the unsupported encoding ${encoding}`)
  try {
    return gunzipSync(body, { maxOutputLength: maxBytes })
  } catch (error) {
    throw notReadable(url, 'the response is labeled gzip but cannot be decompressed', error)
  }
}

function notReadable({ host }: URL, detail: string, cause?: unknown) {
  return new NetworkError({ code: 'not_a_registry', reason: 'not_json', host, detail }, { cause })
}
