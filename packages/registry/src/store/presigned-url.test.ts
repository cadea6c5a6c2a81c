import { expect, test } from 'vitest'
import { computeSignature, presign, verifyPresigned } from './presigned-url.ts'

const key = 'a key'
const now = new Date('2026-11-23T12:34:56.789Z')
const printable = String.fromCharCode(...Array.from({ length: 95 }, (_, at) => 32 + at))

test('a presigned URL is encoded as URLSearchParams would encode it, and is valid until it expires', () => {
  const own = { 'response-content-disposition': `attachment; filename="${printable} é"`, size: '7' }
  const url = presign(
    key,
    { method: 'GET', path: '/blobs/x', query: own, expiresInSeconds: 60 },
    now,
  )
  const signed = `/blobs/x?${new URLSearchParams({
    ...own,
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': 'shoal/20261123/local/s3/aws4_request',
    'X-Amz-Date': '20261123T123456Z',
    'X-Amz-Expires': '60',
    'X-Amz-SignedHeaders': 'host',
  })}`
  expect(url).toBe(`${signed}&X-Amz-Signature=${computeSignature(key, 'GET', signed)}`)
  const { pathname, search } = new URL(url, 'http://localhost')
  expect(pathname + search).toBe(url) // clients send it unchanged
  const query = verifyPresigned(key, 'GET', url, now)
  expect(query?.get('response-content-disposition')).toBe(own['response-content-disposition'])
  expect(verifyPresigned(key, 'PUT', url, now)).toBeUndefined()
  expect(verifyPresigned(key, 'GET', url, new Date(now.getTime() + 60_000))).toBeUndefined()
})
