import {
  failureOf,
  failureOfAnswer,
  maxRedirects,
  type Network,
  redirectRefused,
  redirectTarget,
  sendRequest,
} from '@shoal/network/requests'
import { NetworkError } from '@shoal/protocol/client'
import { answerProblem } from '../pull/check-answer.ts'

type Range = { start: number; length: number; fileSizeBytes: number }

/** A range of the file behind `address`, through redirects. Rejects where it is not exactly that. */
export async function fetchRange(
  network: Network,
  address: string,
  { start, length, fileSizeBytes }: Range,
  signal: AbortSignal,
): Promise<Uint8Array> {
  let url = new URL(address)
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    const proxy = network.proxyOf(url)
    try {
      const response = await sendRequest(network, url, {
        method: 'GET',
        headers: { range: `bytes=${start}-${start + length - 1}`, 'accept-encoding': 'identity' },
        signal,
      })
      const { statusCode: status, body } = response
      const header = (name: string) => response.headers[name]?.toString()
      const location = header('location')
      if (status >= 300 && status < 400 && location !== undefined) {
        await body.dump()
        url = redirectTarget(url, location)
        continue
      }
      const failure = failureOfAnswer({ url, proxy }, status, header('content-type'))
      const problem = answerProblem(status, header, { start, size: length, fileSizeBytes })
      if (failure || problem) {
        await body.dump()
        throw failure ? new NetworkError(failure) : new Error(`${url.host} ${problem}`)
      }
      const bytes = new Uint8Array(await body.arrayBuffer())
      if (bytes.length === length) return bytes
      throw new Error(`${url.host} sent ${bytes.length} bytes, not ${length}`)
    } catch (error) {
      signal.throwIfAborted()
      const isSystem = error instanceof Error && 'code' in error
      throw isSystem ? new NetworkError(failureOf(error, { url, proxy })) : error
    }
  }
  throw redirectRefused(url, 'loop', `it redirects more than ${maxRedirects} times`)
}
