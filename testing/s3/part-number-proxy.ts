import { type ProxiedRequest, startS3Proxy } from './s3-proxy.ts'

/**
 * Starts a proxy that adds AWS S3's `GET ?partNumber=` to a server that does not support it, such as radosgw 16. The
 * server still checks signatures, because it receives the signed URL unchanged, with an additional `Range` header. The
 * proxy learns the sizes of parts from the uploads that pass through it.
 */
export async function startPartNumberProxy(endpoint: string) {
  /** Sizes of parts: for open uploads, keyed by part number; for finished objects, in order. */
  const uploads = new Map<string, Map<number, number>>()
  const objects = new Map<string, number[]>()

  function noteSuccess({ method, path, headers }: ProxiedRequest) {
    const url = new URL(path, endpoint)
    const uploadId = url.searchParams.get('uploadId')
    const partNumber = Number(url.searchParams.get('partNumber'))
    if (uploadId === null) {
      if (method === 'PUT' || method === 'DELETE') objects.delete(url.pathname)
      return
    }
    const parts = uploads.get(uploadId) ?? new Map<number, number>()
    uploads.set(uploadId, parts)
    if (method === 'PUT') parts.set(partNumber, Number(headers['content-length']))
    if (method !== 'POST') return
    const inOrder = [...parts].sort(([one], [other]) => one - other)
    objects.set(
      url.pathname,
      inOrder.map(([, size]) => size),
    )
    uploads.delete(uploadId)
  }

  /** Returns the range of the requested part; undefined if the request is not for a known part. */
  function findRange({ method, path }: ProxiedRequest): string | undefined {
    const url = new URL(path, endpoint)
    const partNumber = Number(url.searchParams.get('partNumber'))
    const isRead = method === 'GET' && !url.searchParams.has('uploadId')
    const sizes = isRead ? objects.get(url.pathname) : undefined
    const size = sizes?.[partNumber - 1]
    if (!sizes || size === undefined) return undefined
    const start = sizes.slice(0, partNumber - 1).reduce((sum, one) => sum + one, 0)
    return `bytes=${start}-${start + size - 1}`
  }

  return startS3Proxy(endpoint, {
    change(request) {
      const range = findRange(request)
      return { ...request, headers: { ...request.headers, ...(range && { range }) } }
    },
    onSuccess: noteSuccess,
  })
}
