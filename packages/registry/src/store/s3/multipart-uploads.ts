/** Multipart uploads of an S3 store (https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpuoverview.html). */
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  type MultipartUpload,
  type Part,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import { hasCode } from '@shoal/core/errors'
import { bytesGone } from '../object-reader.ts'
import type { ByteRange } from '../object-store.ts'
import { isS3Error, type S3Caller } from './s3-client.ts'

/** `name` is the full name of the object in the bucket. */
export type MultipartUploadId = { name: string; uploadId: string }

export interface MultipartUploads {
  create(name: string): Promise<string>
  /** Returns the stored parts, by part number, or undefined if the store does not have this upload. */
  listParts(upload: MultipartUploadId): Promise<Map<number, Part> | undefined>
  /** Joins the parts into an object. Throws not-found if the upload does not exist or one of its parts is missing. */
  complete(upload: MultipartUploadId, partSizes: number[]): Promise<void>
  /**
   * Copies ranges of a finished object into an upload of the same name. Each range becomes the part with its
   * `partNumber`.
   */
  copyParts(upload: MultipartUploadId, parts: ({ partNumber: number } & ByteRange)[]): Promise<void>
  /** Does nothing if the store does not have this upload. */
  abort(upload: MultipartUploadId): Promise<void>
  /** Yields all uploads of objects whose names begin with `prefix`. */
  list(prefix: string): AsyncGenerator<MultipartUpload>
}

type Options = {
  caller: S3Caller
  bucket: string
  /** Whether parts carry a SHA-256 that the store checks. */
  hasChecksums: boolean
}

const maxCompleteAttempts = 3
const maxConcurrentCopies = 4

export function multipartUploads({ caller, bucket, hasChecksums }: Options): MultipartUploads {
  const { assemblyMs } = caller.timeouts
  const toRequest = ({ name, uploadId }: MultipartUploadId) => ({
    Bucket: bucket,
    Key: name,
    UploadId: uploadId,
  })

  async function listParts(upload: MultipartUploadId) {
    const parts = new Map<number, Part>()
    try {
      for (let after: string | undefined; ; ) {
        const request = { ...toRequest(upload), ...(after && { PartNumberMarker: after }) }
        const page = await caller.send(new ListPartsCommand(request))
        for (const part of page.Parts ?? []) parts.set(part.PartNumber ?? 0, part)
        if (!page.IsTruncated) return parts
        after = page.NextPartNumberMarker
      }
    } catch (error) {
      if (hasCode(error, 'not_found')) return undefined
      throw error
    }
  }

  async function complete(upload: MultipartUploadId, partSizes: number[]): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const stored = await listParts(upload)
      const parts = partSizes.map((size, index) => {
        const part = stored?.get(index + 1)
        if (part?.Size !== size) throw bytesGone()
        const { PartNumber, ETag, ChecksumSHA256 } = part
        return { PartNumber, ETag, ...(hasChecksums && { ChecksumSHA256 }) }
      })
      const request = { ...toRequest(upload), MultipartUpload: { Parts: parts } }
      try {
        await caller.send(new CompleteMultipartUploadCommand(request), { timeoutMs: assemblyMs })
        return
      } catch (error) {
        // A client may have replaced a part since the parts were listed.
        if (isS3Error(error, 'InvalidPart') && attempt < maxCompleteAttempts) continue
        throw error
      }
    }
  }

  return {
    listParts,
    complete,

    async create(name) {
      const request = {
        Bucket: bucket,
        Key: name,
        ...(hasChecksums && { ChecksumAlgorithm: 'SHA256' as const }),
      }
      const { UploadId } = await caller.send(new CreateMultipartUploadCommand(request))
      if (!UploadId) throw new Error('the S3 store returned no upload ID')
      return UploadId
    },

    async copyParts(upload, parts) {
      const left = parts.values()
      const copySource = `${bucket}/${upload.name}`.split('/').map(encodeURIComponent).join('/')
      const copy = async () => {
        for (const { partNumber, start, size } of left) {
          const request = {
            ...toRequest(upload),
            PartNumber: partNumber,
            CopySource: copySource,
            CopySourceRange: `bytes=${start}-${start + size - 1}`,
          }
          await caller.send(new UploadPartCopyCommand(request), { timeoutMs: assemblyMs })
        }
      }
      await Promise.all(Array.from({ length: maxConcurrentCopies }, copy))
    },

    async abort(upload) {
      try {
        await caller.send(new AbortMultipartUploadCommand(toRequest(upload)))
      } catch (error) {
        if (!hasCode(error, 'not_found')) throw error
      }
    },

    list: (prefix) => listUploads(caller, bucket, prefix),
  }
}

async function* listUploads(
  caller: S3Caller,
  bucket: string,
  prefix: string,
): AsyncGenerator<MultipartUpload> {
  let after: { KeyMarker?: string; UploadIdMarker?: string } = {}
  for (;;) {
    const request = { Bucket: bucket, Prefix: prefix, ...after }
    const page = await caller.send(new ListMultipartUploadsCommand(request))
    yield* page.Uploads ?? []
    if (!page.IsTruncated) return
    after = {
      ...(page.NextKeyMarker && { KeyMarker: page.NextKeyMarker }),
      ...(page.NextUploadIdMarker && { UploadIdMarker: page.NextUploadIdMarker }),
    }
  }
}
