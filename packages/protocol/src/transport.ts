/** How a call of the registry's API goes out and its answer comes back: `fetch` in a browser, more than that in Node. */
import { NetworkError } from './network-error.ts'

export type ApiRequest = {
  method: string
  url: string
  /** Names in lower case. */
  headers: Record<string, string>
  body?: string
  signal?: AbortSignal | undefined
  retry?: RetryTimes | undefined
  /** Told before each wait. */
  onWait?: ((wait: Wait) => void) | undefined
}

/** How long a request is tried again, in milliseconds. */
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
  /** `name` in lower case. */
  headers: { get(name: string): string | null }
  body: Uint8Array
}

/** Rejects with a `NetworkError` where no answer came, and with the signal's reason. */
export type Transport = (request: ApiRequest) => Promise<ApiAnswer>

/** The browser's own network layer, which does not say why it fails. Nothing is sent again. */
export function fetchTransport(send: typeof fetch = fetch): Transport {
  return async ({ method, url, headers, body = null, signal = null }) => {
    try {
      const response = await send(url, { method, headers, redirect: 'manual', body, signal })
      const { status, headers: answered } = response
      return { status, headers: answered, body: new Uint8Array(await response.arrayBuffer()) }
    } catch (error) {
      signal?.throwIfAborted()
      const detail = String(error)
      throw new NetworkError({ code: 'unreachable', reason: 'unknown', host: url, detail })
    }
  }
}
