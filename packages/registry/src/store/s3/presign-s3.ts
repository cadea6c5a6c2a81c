/**
 * Presigned URLs with AWS Signature Version 4
 * (https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html). The SDK is not used, because a push
 * needs one URL per chunk, and the SDK takes ten times as long to sign each.
 */
import { createHash, createHmac } from 'node:crypto'

export type S3Credentials = { accessKeyId: string; secretAccessKey: string }

/** The location of a bucket. */
export type S3Bucket = {
  /** Scheme, host and port, such as `https://s3.eu-central-1.amazonaws.com`. */
  endpoint: string
  bucket: string
  region: string
  /** Whether the bucket is the first segment of the path, instead of the first label of the hostname. */
  usesPathStyle: boolean
}

export type S3Request = {
  method: 'GET' | 'PUT'
  /** The object's full name in the bucket. */
  key: string
  query?: Record<string, string>
  /** Headers that the client must send with exactly these values. */
  headers?: Record<string, string>
  /** At most 604,800 (seven days). */
  expiresInSeconds: number
}

const algorithm = 'AWS4-HMAC-SHA256'
/** Signed instead of the body's hash if the URL permits any body. */
const unsignedPayload = 'UNSIGNED-PAYLOAD'

/** Signs a URL that permits one kind of request, any number of times until it expires. */
export type PresignS3 = (request: S3Request, now?: Date) => string

/**
 * Creates a function that signs URLs. The function caches the day's signing key, which takes four HMACs to derive.
 * `clockOffsetMs` returns how far the store's clock is ahead of this machine's clock.
 */
export function s3Presigner(
  place: S3Bucket,
  { accessKeyId, secretAccessKey }: S3Credentials,
  clockOffsetMs = () => 0,
): PresignS3 {
  const { host, origin, path } = findBucketAddress(place)
  let kept: { date: string; key: Buffer } = { date: '', key: Buffer.alloc(0) }

  function signingKey(date: string): Buffer {
    if (kept.date !== date) {
      const key = [date, place.region, 's3', 'aws4_request'].reduce<string | Buffer>(
        (previous, part) => hmac(previous, part),
        `AWS4${secretAccessKey}`,
      )
      kept = { date, key: key as Buffer }
    }
    return kept.key
  }

  return (request, now = new Date(Date.now() + clockOffsetMs())) => {
    const time = now.toISOString().replace(/[-:]|\.\d{3}/g, '')
    const date = time.slice(0, 8)
    const scope = `${date}/${place.region}/s3/aws4_request`
    const headers: Record<string, string> = { ...request.headers, host }
    const names = Object.keys(headers).sort()
    const query = {
      ...request.query,
      'X-Amz-Algorithm': algorithm,
      'X-Amz-Credential': `${accessKeyId}/${scope}`,
      'X-Amz-Date': time,
      'X-Amz-Expires': String(request.expiresInSeconds),
      'X-Amz-SignedHeaders': names.join(';'),
    }
    const sortedQuery = Object.entries(query)
      .map(([name, value]) => `${encode(name)}=${encode(value)}`)
      .sort()
      .join('&')
    const objectPath = `${path}/${request.key.split('/').map(encode).join('/')}`
    const canonical = [
      request.method,
      objectPath,
      sortedQuery,
      ...names.map((name) => `${name}:${headers[name]?.trim()}`),
      '',
      names.join(';'),
      headers['x-amz-content-sha256'] ?? unsignedPayload,
    ].join('\n')
    const toSign = [algorithm, time, scope, sha256Hex(canonical)].join('\n')
    const signature = hmac(signingKey(date), toSign).toString('hex')
    return `${origin}${objectPath}?${sortedQuery}&X-Amz-Signature=${signature}`
  }
}

/** Returns the address of a bucket. `path` is the bucket's path, without a trailing slash. */
export function findBucketAddress({ endpoint, bucket, usesPathStyle }: S3Bucket) {
  const url = new URL(endpoint)
  const host = usesPathStyle ? url.host : `${bucket}.${url.host}`
  return {
    host,
    origin: `${url.protocol}//${host}`,
    path: usesPathStyle ? `/${encode(bucket)}` : '',
  }
}

/** Percent-encodes all characters except unreserved ones (RFC 3986 §2.3), with uppercase hexadecimal digits. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** Returns the SHA-256 in the format that S3 expects in headers and signatures. */
export const sha256Hex = (bytes: string | Uint8Array) =>
  createHash('sha256').update(bytes).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
