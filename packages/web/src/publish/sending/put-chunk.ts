import { type MissingChunk, toApiError } from '@shoal/protocol/client'
import { classifyError, type PutOptions, TransferError } from '@shoal/transfer/push'

/**
 * Maximum time without upload progress. It is longer than any pause on a working connection, including the time that
 * the registry needs to hash and store the chunk before it responds.
 */
const silenceMs = 60_000

/**
 * Sends a chunk. Rejects with a `TransferError`, or with an `ApiError` if a retry would not help. Uses XMLHttpRequest,
 * because `fetch` does not report upload progress.
 */
export function putChunk(
  chunk: MissingChunk,
  bytes: Blob,
  { signal, onSent }: PutOptions,
): Promise<void> {
  const request = new XMLHttpRequest()
  const stop = () => request.abort()
  let silence: ReturnType<typeof setTimeout>
  const stillThere = () => {
    clearTimeout(silence)
    silence = setTimeout(stop, silenceMs)
  }
  return new Promise<void>((resolve, reject) => {
    const lose = (message: string) => reject(new TransferError({ kind: 'lost', message }))
    request.open('PUT', chunk.url)
    for (const [name, value] of Object.entries(chunk.headers)) {
      // Browsers set Content-Length and Host themselves, and do not let pages set them.
      if (!/^(content-length|host)$/i.test(name)) request.setRequestHeader(name, value)
    }
    request.upload.onprogress = ({ loaded }) => {
      stillThere()
      onSent(loaded)
    }
    request.onload = () => {
      const isStored = request.status >= 200 && request.status < 300
      if (isStored) resolve()
      else reject(toError(request, new URL(chunk.url).host))
    }
    request.onerror = () => lose('the connection was lost')
    request.onabort = () => {
      if (signal.aborted) reject(signal.reason)
      else lose('the registry stopped responding')
    }
    signal.addEventListener('abort', stop)
    stillThere()
    if (signal.aborted) reject(signal.reason)
    else request.send(bytes)
  }).finally(() => {
    clearTimeout(silence)
    signal.removeEventListener('abort', stop)
  })
}

function toError(request: XMLHttpRequest, host: string): Error {
  const { status, responseText: text } = request
  const retryAfter = request.getResponseHeader('retry-after') ?? undefined
  const error = toApiError({ status, text, retryAfter }, host)
  const failure = classifyError(error, location.host)
  return failure ? new TransferError(failure) : error
}
