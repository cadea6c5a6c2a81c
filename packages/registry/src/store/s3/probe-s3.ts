import { randomUUID } from 'node:crypto'
import { DeleteObjectCommand, HeadObjectCommand } from '@aws-sdk/client-s3'
import { describePage } from '@shoal/core/errors'
import { ConfigError } from '../../errors.ts'
import type { ExplainRefusal } from './explain-refusal.ts'
import { multipartUploads } from './multipart-uploads.ts'
import type { ObjectNames } from './object-names.ts'
import { type PresignS3, sha256Hex } from './presign-s3.ts'
import type { S3Caller } from './s3-client.ts'
import { chunkHeaders, type S3Support } from './s3-support.ts'

type Dependencies = {
  caller: S3Caller
  endpoint: string
  bucket: string
  names: ObjectNames
  presign: PresignS3
  allow: ExplainRefusal
}
type Headers = Pick<S3Support, 'takesContentHash' | 'takesChecksum'>
type Answer = { ok: boolean; status: number; bytes: Buffer }

/** A part of the minimum size that S3 requires for all parts except the last. */
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
 * Throws a `ConfigError` if the store refuses presigned uploads or another operation that a registry needs.
 */
export async function probeS3(dependencies: Dependencies): Promise<S3Support> {
  const { caller, bucket, names, allow } = dependencies
  const name = names.probe(randomUUID())
  const remove = () => caller.send(new DeleteObjectCommand({ Bucket: bucket, Key: name }))
  let refusal: Answer | undefined
  const onRefusal = (answer: Answer) => {
    refusal = answer
  }
  for (const headers of headerChoices) {
    const tried = tryHeaders(dependencies, name, headers, onRefusal)
    const support = await tried.catch(async (error) => {
      await remove().catch(() => undefined) // the first error is more informative
      throw error
    })
    if (!support) continue
    await allow('delete', remove)
    return support
  }
  throw new ConfigError(
    `the S3 store at ${dependencies.endpoint} (SHOAL_S3_ENDPOINT) refuses uploads with presigned URLs: ${refusal && explain(refusal)}`,
  )
}

/** Returns what the store itself says about its refusal. The clocks are not the reason: see `clockOffsetMs`. */
const explain = ({ status, bytes }: Answer) => describePage(status, bytes.toString('utf8'))

/** Returns undefined if the store refuses uploads that require these headers. */
async function tryHeaders(
  { caller, bucket, presign, allow }: Dependencies,
  name: string,
  headers: Headers,
  onRefusal: (answer: Answer) => void,
): Promise<S3Support | undefined> {
  const uploads = multipartUploads({ caller, bucket, hasChecksums: headers.takesChecksum })
  const uploadId = await allow('upload', () => uploads.create(name))
  const abort = () => uploads.abort({ name, uploadId })

  const request = (url: string, init?: RequestInit) =>
    caller.run(
      async (signal) => {
        const response = await fetch(url, { ...init, signal })
        const bytes = Buffer.from(await response.arrayBuffer())
        return { ok: response.ok, status: response.status, bytes }
      },
      { timeoutMs: caller.timeouts.assemblyMs }, // 5 MiB over a slow line may take longer than other requests
    )

  async function isAccepted(partNumber: number, announced: Buffer, sent = announced) {
    const required = chunkHeaders(sha256Hex(announced), headers)
    const url = presign({
      method: 'PUT',
      key: name,
      query: { partNumber: `${partNumber}`, uploadId },
      headers: required,
      expiresInSeconds: urlLifetimeSeconds,
    })
    const body = new Uint8Array(sent)
    const answer = await request(url, { method: 'PUT', headers: required, body })
    if (!answer.ok && sent === announced) onRefusal(answer)
    return answer.ok
  }

  /** Returns whether the store refuses wrong bytes, or undefined if it refuses correct bytes too. */
  async function upload() {
    // If the store accepts the wrong bytes, they are replaced by the correct bytes, which are sent next.
    const refusesWrongBytes = !(await isAccepted(2, lastPart, wrongPart))
    if (!(await isAccepted(2, lastPart))) return undefined
    if (!(await isAccepted(1, firstPart))) return undefined
    await uploads.complete({ name, uploadId }, [firstPart.length, lastPart.length])
    return { refusesWrongBytes }
  }

  const uploaded = await allow('upload', upload).catch(async (error) => {
    await abort().catch(() => undefined) // the first error is more informative
    throw error
  })
  if (!uploaded) {
    await allow('upload', abort)
    return undefined
  }
  await allow('read', () => caller.send(new HeadObjectCommand({ Bucket: bucket, Key: name })))
  const query = { partNumber: '2' }
  const url = presign({ method: 'GET', key: name, query, expiresInSeconds: urlLifetimeSeconds })
  const part = await allow('read', () => request(url))
  const servesParts = part.status === 206 && part.bytes.equals(lastPart)
  return { ...headers, ...uploaded, servesParts }
}
