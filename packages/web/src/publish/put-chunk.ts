import { ApiError, type MissingChunk } from '@shoal/protocol/client'
import { TroubleError } from './trouble.ts'

/** Longer than any pause of a living line: the answer comes when the chunk is hashed and stored. */
const silenceMs = 60_000

type Put = {
  chunk: MissingChunk
  bytes: Blob
  signal: AbortSignal
  /** Bytes of this chunk that have gone out. */
  onSent: (bytes: number) => void
}

/**
 * Sends one chunk. Rejects with a `TroubleError`, or with an `ApiError` where sending it again would not help. By XMLHttpRequest:
 * `fetch` does not tell how much has gone out.
 */
export function putChunk({ chunk, bytes, signal, onSent }: Put): Promise<void> {
  const request = new XMLHttpRequest()
  const stop = () => request.abort()
  let silence: ReturnType<typeof setTimeout>
  const stillThere = () => {
    clearTimeout(silence)
    silence = setTimeout(stop, silenceMs)
  }
  return new Promise<void>((resolve, reject) => {
    request.open('PUT', chunk.url)
    for (const [name, value] of Object.entries(chunk.headers)) {
      // A browser sets the length by itself, and lets no page do it.
      if (!/^(content-length|host)$/i.test(name)) request.setRequestHeader(name, value)
    }
    request.upload.onprogress = ({ loaded }) => {
      stillThere()
      onSent(loaded)
    }
    request.onload = () => {
      const isStored = request.status >= 200 && request.status < 300
      if (isStored) resolve()
      else reject(problemOf(request))
    }
    request.onerror = () => reject(new TroubleError('the connection broke'))
    request.onabort = () =>
      reject(signal.aborted ? signal.reason : new TroubleError('the registry fell silent'))
    signal.addEventListener('abort', stop)
    stillThere()
    if (signal.aborted) reject(signal.reason)
    else request.send(bytes)
  }).finally(() => {
    clearTimeout(silence)
    signal.removeEventListener('abort', stop)
  })
}

function problemOf(request: XMLHttpRequest): Error {
  const { status } = request
  const isTrouble = status === 408 || status === 429 || (status >= 500 && status !== 507)
  const detail = detailIn(request.responseText) ?? `the registry answered ${status}`
  if (!isTrouble) return new ApiError(status, { detail })
  const seconds = Number(request.getResponseHeader('retry-after'))
  return new TroubleError(detail, seconds > 0 ? seconds : undefined)
}

/** The registry answers `{ detail }`; what stands between may answer anything. */
function detailIn(text: string): string | undefined {
  try {
    const body: unknown = JSON.parse(text)
    const { detail } = (body ?? {}) as { detail?: unknown }
    return typeof detail === 'string' ? detail : undefined
  } catch {
    return undefined // not JSON
  }
}
