import {
  type Asked,
  followRedirects,
  type Network,
  readBody,
  readHead,
  type Step,
  sendRequest,
  toNetworkFailure,
} from '@shoal/network/requests'
import { NetworkError } from '@shoal/protocol/client'
import { answerProblem } from '../chunks/check-answer.ts'

type Range = { start: number; length: number; fileSizeBytes: number }

/**
 * Fetches a range of the file at `address`, following redirects. Rejects if the response does not have exactly the
 * requested bytes, or with the signal's reason.
 */
export function fetchRange(
  network: Network,
  address: string,
  range: Range,
  signal: AbortSignal,
): Promise<Uint8Array> {
  return followRedirects(network, new URL(address), async (asked) => {
    try {
      return await ask(network, asked, range, signal)
    } catch (error) {
      signal.throwIfAborted()
      const isSystem = error instanceof Error && 'code' in error
      throw isSystem ? new NetworkError(toNetworkFailure(error, asked)) : error
    }
  })
}

async function ask(
  network: Network,
  asked: Asked,
  { start, length, fileSizeBytes }: Range,
  signal: AbortSignal,
): Promise<Step<Uint8Array>> {
  const { url } = asked
  const headers = { range: `bytes=${start}-${start + length - 1}`, 'accept-encoding': 'identity' }
  const response = await sendRequest(network, url, { method: 'GET', headers, signal })
  const { statusCode: status, body } = response
  const { header, redirect, failure } = readHead(asked, status, response.headers)
  const problem = answerProblem(status, header, { start, size: length, fileSizeBytes })
  if (redirect || failure || problem) {
    await body.dump()
    if (redirect) return { redirect }
    throw failure ? new NetworkError(failure) : new Error(`${url.host} ${problem}`)
  }
  const bytes = await readBody(body, length) // a response may omit its length
  if (bytes?.length === length) return { result: bytes }
  throw new Error(`${url.host} sent ${bytes?.length ?? 'excess'} bytes; ${length} were requested`)
}
