/** Sends requests to an inference daemon: with `fetch` in a browser, over an authenticated connection in Node. */

export type InferenceRequest = {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  /** The header names are lowercase. */
  headers: Record<string, string>
  body?: string
  signal?: AbortSignal | undefined
}

/**
 * The status and headers of a response, and its body as it arrives. Leaving the loop over the body ends the request.
 */
export type InferenceAnswer = {
  status: number
  /** `name` must be in lower case. */
  header(name: string): string | null
  body: AsyncIterable<Uint8Array>
}

export type InferenceTransport = {
  /** The daemon's base URL, such as `http://localhost:11434`. */
  url: string
  /** Resolves when the response headers have arrived. Rejects if there is no response, or if the signal is aborted. */
  send(request: InferenceRequest): Promise<InferenceAnswer>
}

/**
 * Returns a transport that sends requests with `fetch` to the daemon at `url`. In a page that the daemon itself serves,
 * `url` is the page's origin.
 * @example
 * import { fetchInference, inferenceClient } from '@shoal/protocol/inference-client'
 *
 * const transport = fetchInference('http://localhost:11434')
 * const daemon = inferenceClient(transport, () => process.env.SHOAL_API_KEY)
 */
export function fetchInference(url: string, send: typeof fetch = fetch): InferenceTransport {
  return {
    url,
    async send({ method, path, headers, body = null, signal = null }) {
      const response = await send(url + path, { method, headers, body, signal })
      return {
        status: response.status,
        header: (name) => response.headers.get(name),
        body: readChunks(response.body),
      }
    },
  }
}

/** Reads the stream with a reader, because not every browser can iterate over a stream. */
async function* readChunks(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (!body) return
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel()
  }
}
