/** How a call of the registry's API goes out and its answer comes back: `fetch` in a browser, more than that in Node. */
import { NetworkError } from './network-error.ts'

export type ApiRequest = {
  method: string
  url: string
  /** Names in lower case. */
  headers: Record<string, string>
  body?: string
  signal?: AbortSignal | undefined
  /** Doing it twice does no harm, so that it may be sent again where the answer was lost. */
  isRepeatable: boolean
  retry?: RetryTimes | undefined
  /** Told before each wait. */
  onWait?: ((wait: Wait) => void) | undefined
}

/** How long a request that may be repeated is tried again, in milliseconds. */
export type RetryTimes = {
  /** While the registry has not answered anything yet: it is probably not there. */
  firstContactMs: number
  /** Once it has. */
  giveUpMs: number
}

/** `reason` continues the sentence “Waiting 2 s: …”. */
export type Wait = { seconds: number; reason: string }

/** An answer with its whole body. */
export type ApiAnswer = {
  status: number
  /** Undefined where there is none; `name` in lower case. */
  header(name: string): string | undefined
  body: Uint8Array
}

/** Rejects with a `NetworkError` where no answer came, and with the signal's reason. */
export type Transport = (request: ApiRequest) => Promise<ApiAnswer>

/** The browser's own network layer, which does not say why it fails. Nothing is sent again. */
export function fetchTransport(send: typeof fetch = fetch): Transport {
  return async ({ method, url, headers, body, signal }) => {
    const init: RequestInit = { method, headers, redirect: 'manual' }
    if (body !== undefined) init.body = body
    if (signal) init.signal = signal
    try {
      const response = await send(url, init)
      return {
        status: response.status,
        header: (name) => response.headers.get(name) ?? undefined,
        body: new Uint8Array(await response.arrayBuffer()),
      }
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      const detail = error instanceof Error ? error.message : String(error)
      const failure = { code: 'unreachable', reason: 'unknown', host: hostOf(url), detail } as const
      throw new NetworkError(failure, { cause: error })
    }
  }
}

/** `localhost:8000`; of a relative URL nothing. */
const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : '')
