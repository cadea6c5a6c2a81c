import { randomUUID } from 'node:crypto'
import { DeleteObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { ConfigError } from '../../errors.ts'
import { multipartUploads } from './multipart-uploads.ts'
import type { ObjectNames } from './object-names.ts'
import { type PresignS3, sha256Hex } from './presign-s3.ts'
import { callStore } from './s3-client.ts'
import { chunkHeaders, type S3Support } from './s3-support.ts'

type Dependencies = { client: S3Client; bucket: string; names: ObjectNames; presign: PresignS3 }
type Headers = Pick<S3Support, 'takesContentHash' | 'takesChecksum'>

/** Has the minimum size of a part that is not the last one. */
const firstPart = Buffer.alloc(5 * 1024 * 1024)
const lastPart = Buffer.from('the bytes that were announced')
const wrongPart = Buffer.from('other bytes, of the same size')
const urlLifetimeSeconds = 600

/** Headers that a presigned URL may require, in the order in which they are tried. */
const headerChoices: Headers[] = [
  { takesContentHash: true, takesChecksum: true },
  { takesContentHash: true, takesChecksum: false },
  { takesContentHash: false, takesChecksum: true },
  { takesContentHash: false, takesChecksum: false },
]

/**
 * Finds out what the store supports by uploading an object of 5 MiB in two parts. The object is deleted afterwards.
 * Throws a `ConfigError` if the store refuses presigned uploads.
 */
export async function probeS3(dependencies: Dependencies): Promise<S3Support> {
  const { client, bucket, names } = dependencies
  const name = names.probe(randomUUID())
  try {
    for (const headers of headerChoices) {
      const support = await tryHeaders(dependencies, name, headers)
      if (support) return support
    }
  } finally {
    await callStore(client.send(new DeleteObjectCommand({ Bucket: bucket, Key: name })))
  }
  throw new ConfigError(
    'the S3 store refuses presigned uploads (SHOAL_S3_ENDPOINT): it must support AWS Signature Version 4 in URLs',
  )
}

/** Returns undefined if the store refuses uploads that require these headers. */
async function tryHeaders(
  { client, bucket, presign }: Dependencies,
  name: string,
  headers: Headers,
): Promise<S3Support | undefined> {
  const uploads = multipartUploads({ client, bucket, hasChecksums: headers.takesChecksum })
  const uploadId = await uploads.create(name)
  const isAccepted = async (partNumber: number, announced: Buffer, sent = announced) => {
    const required = chunkHeaders(sha256Hex(announced), headers)
    const url = presign({
      method: 'PUT',
      key: name,
      query: { partNumber: `${partNumber}`, uploadId },
      headers: required,
      expiresInSeconds: urlLifetimeSeconds,
    })
    const response = await request(url, {
      method: 'PUT',
      headers: required,
      body: new Uint8Array(sent),
    })
    return response.ok
  }
  let isComplete = false
  try {
    if (!(await isAccepted(2, lastPart))) return undefined
    const refusesWrongBytes = !(await isAccepted(3, lastPart, wrongPart))
    if (!(await isAccepted(1, firstPart))) return undefined
    await uploads.complete({ name, uploadId }, [firstPart.length, lastPart.length])
    isComplete = true
    const query = { partNumber: '2' }
    const url = presign({ method: 'GET', key: name, query, expiresInSeconds: urlLifetimeSeconds })
    const part = await request(url)
    const servesParts = part.status === 206 && part.bytes.equals(lastPart)
    return { ...headers, refusesWrongBytes, servesParts }
  } finally {
    if (!isComplete) await uploads.abort({ name, uploadId })
  }
}

async function request(url: string, init?: RequestInit) {
  const response = await callStore(fetch(url, init))
  const bytes = Buffer.from(await callStore(response.arrayBuffer()))
  return { ok: response.ok, status: response.status, bytes }
}
