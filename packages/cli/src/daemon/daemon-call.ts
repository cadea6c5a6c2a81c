/**
 * One call of the daemon's HTTP API. Over `node:http`, because `fetch` gives up where an answer takes five minutes to
 * begin, and a large model on a slow disk takes longer.
 */
import type { ClientRequest, IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { DaemonError, DaemonGoneError } from './daemon-error.ts'
import { proveConnection } from './proven-connection.ts'

export type DaemonAddress = {
  url: string
  apiKey: string | undefined
  /** Of the daemon that has to prove to be there; undefined for one that was named, which is trusted. */
  proofToken?: string
}

export type DaemonCall = {
  method: 'GET' | 'POST'
  path: string
  body?: object
  signal?: AbortSignal | undefined
}

/** The answer, once its head is there. Rejects with a `DaemonError`, a `DaemonGoneError` or the signal's reason. */
export async function callDaemon(
  address: DaemonAddress,
  call: DaemonCall,
): Promise<IncomingMessage> {
  const response = await send(address, call).catch((error: unknown) => {
    call.signal?.throwIfAborted()
    throw new DaemonGoneError(address.url, false, { cause: error })
  })
  const { statusCode: status = 0 } = response
  if (status >= 200 && status < 300) return response
  throw refusalOf(status, await readText(address, response, call.signal))
}

export async function callForJson<T>(address: DaemonAddress, call: DaemonCall): Promise<T> {
  const body = await readText(address, await callDaemon(address, call), call.signal)
  try {
    return JSON.parse(body) as T
  } catch (error) {
    throw new DaemonGoneError(address.url, true, { cause: error })
  }
}

/** What a stream of the daemon's yields as it comes. */
export async function* readChunks(
  { url }: DaemonAddress,
  response: IncomingMessage,
  signal?: AbortSignal,
): AsyncGenerator<string> {
  response.setEncoding('utf8')
  try {
    for await (const chunk of response) yield String(chunk)
  } catch (error) {
    signal?.throwIfAborted()
    throw new DaemonGoneError(url, true, { cause: error })
  }
}

async function send(address: DaemonAddress, call: DaemonCall): Promise<IncomingMessage> {
  const { apiKey, proofToken } = address
  const { method, path, body, signal } = call
  const payload = body === undefined ? undefined : JSON.stringify(body)
  const url = proofToken === undefined ? address.url : numericUrl(address.url)
  const proven = proofToken && (await proveConnection(url, proofToken, signal))
  // Loaded here: it takes longer than most commands that speak to no daemon.
  const { request } = await import(url.startsWith('https:') ? 'node:https' : 'node:http')
  return await new Promise((resolve, reject) => {
    const sent: ClientRequest = request(url + path, {
      method,
      // Without a pool: a connection that was kept may have been closed by the other side just now.
      agent: proven ? proven.agent : false,
      headers: {
        accept: 'application/json, text/event-stream',
        ...(payload !== undefined && { 'content-type': 'application/json' }),
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      },
      ...(signal && { signal }),
    })
    if (proven) proven.hold(sent)
    sent.on('response', resolve).on('error', reject).end(payload)
  })
}

/** `localhost` may lead to two addresses, and another user may have the other one. */
export const numericUrl = (url: string) => url.replace('//localhost:', '//127.0.0.1:')

async function readText(
  address: DaemonAddress,
  response: IncomingMessage,
  signal: AbortSignal | undefined,
): Promise<string> {
  return await text(readChunks(address, response, signal))
}

/** `error` is an object in OpenAI's shape and a word in Ollama's; `detail` is in both. */
function refusalOf(status: number, body: string): DaemonError {
  const answer = parseObject(body)
  return errorIn(answer, status) ?? new DaemonError(status, `the daemon answers ${status}`, null)
}

/** The error that an answer, or an event of a stream, carries. `code` stands in OpenAI's object, or beside Ollama's word. */
export function errorIn(answer: object, status: number): DaemonError | undefined {
  const { detail, error, ...beside } = answer as { detail?: unknown; error?: unknown }
  if (error === undefined && detail === undefined) return undefined
  const { message, code } = (typeof error === 'object' && error !== null ? error : beside) as {
    message?: unknown
    code?: unknown
  }
  const told = [message, detail, error].find((one) => typeof one === 'string' && one !== '')
  return new DaemonError(
    status,
    String(told ?? `the daemon answers ${status}`),
    typeof code === 'string' ? code : null,
  )
}

function parseObject(body: string): object {
  if (!body.trimStart().startsWith('{')) return {}
  try {
    return JSON.parse(body) as object
  } catch (error) {
    // Half an answer is no better than none: the status says what there is to say.
    if (error instanceof SyntaxError) return {}
    throw error
  }
}
