/**
 * Stores objects in an S3 bucket as `<prefix>objects/<key>`. Each chunk is a part of a multipart upload. Clients send
 * and receive bytes through presigned URLs of the store. Only requests that the store does not support pass through the
 * registry.
 */
import type { Readable } from 'node:stream'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { hasCode } from '@shoal/core/errors'
import { conflict } from '../../errors.ts'
import { byteBudget } from '../byte-budget.ts'
import { attachment } from '../disk-store.ts'
import { bytesGone } from '../object-reader.ts'
import type { ByteRange, ChunkLayout, ObjectStore, UploadReference } from '../object-store.ts'
import { presign, verifyPresigned } from '../presigned-url.ts'
import { readRange } from '../read-range.ts'
import type { ServedStore } from '../served-store.ts'
import { hashObject } from './hash-object.ts'
import { multipartUploads } from './multipart-uploads.ts'
import { objectNames } from './object-names.ts'
import { findBucketAddress, type S3Bucket, type S3Credentials, s3Presigner } from './presign-s3.ts'
import { openS3Caller, type S3Timeouts } from './s3-client.ts'
import { openS3Reader } from './s3-reader.ts'
import { chunkHeaders, type S3Support } from './s3-support.ts'

export type S3StoreOptions = {
  bucket: S3Bucket
  /** The endpoint for clients, if it differs from `bucket.endpoint`. */
  publicEndpoint: string | undefined
  credentials: S3Credentials
  /** The prefix of all object names, with a trailing slash. */
  prefix: string
  /** What the store supports, according to the probe. */
  support: S3Support
  /** Default: `defaultTimeouts`. */
  timeouts?: S3Timeouts | undefined
  /** How far the store's clock is ahead of this machine's clock, in milliseconds, if that is known. Default: 0. */
  clockOffsetMs?: number
  /** Signs URLs of the registry itself, for requests that the store does not support. */
  signingKey: string
  /** The base URL of the registry's signed paths. */
  baseUrl: () => string
}

export type S3Store = ObjectStore & ServedStore & { ownOrigin: string }

/** The maximum lifetime of a URL with AWS Signature Version 4: seven days. */
export const maxExpirySeconds = 604_800
/** Longer than it takes to hash the largest file. */
const hashExpirySeconds = 86_400

export function openS3Store(options: S3StoreOptions): S3Store {
  const { bucket, publicEndpoint, credentials, prefix, support, signingKey, baseUrl } = options
  const caller = openS3Caller(bucket, credentials, options.timeouts, options.clockOffsetMs)
  const Bucket = bucket.bucket
  const names = objectNames(prefix)
  const toObject = (key: string) => ({ Bucket, Key: names.toName(key) })
  const publicPlace = { ...bucket, endpoint: publicEndpoint ?? bucket.endpoint }
  const presignPublic = s3Presigner(publicPlace, credentials, caller.clockOffsetMs)
  const presignInternal = s3Presigner(bucket, credentials, caller.clockOffsetMs)
  const uploads = multipartUploads({
    caller,
    bucket: Bucket,
    hasChecksums: support.takesChecksum,
  })
  const toMultipart = ({ key, uploadId }: UploadReference) =>
    uploadId === null ? undefined : { name: names.toName(key), uploadId }

  async function getSize(key: string): Promise<number> {
    const { ContentLength } = await caller.send(new HeadObjectCommand(toObject(key)))
    return ContentLength ?? 0
  }

  /** Returns the size of a finished object, or undefined if the object does not exist. */
  async function findSize(key: string): Promise<number | undefined> {
    try {
      return await getSize(key)
    } catch (error) {
      if (hasCode(error, 'not_found')) return undefined
      throw error
    }
  }

  async function getRange(
    key: string,
    { start, size }: ByteRange,
    signal: AbortSignal,
  ): Promise<Readable> {
    const request = { ...toObject(key), Range: `bytes=${start}-${start + size - 1}` }
    const { Body } = await caller.stream(new GetObjectCommand(request), { signal })
    return Body as Readable // the SDK returns a Readable in Node
  }

  const openReader = (key: string, range: ByteRange, signal?: AbortSignal) =>
    openS3Reader((part, stop) => getRange(key, part, stop), {
      range,
      signal,
      silenceMs: caller.timeouts.silenceMs,
    })

  return {
    async startUpload(upload, layout) {
      const multipart = toMultipart(upload)
      if (multipart && (await uploads.listParts(multipart))) return upload.uploadId
      if ((await findSize(upload.key)) === layout.sizeBytes) return upload.uploadId
      return uploads.create(names.toName(upload.key))
    },

    async abortUpload(upload) {
      const multipart = toMultipart(upload)
      if (multipart) await uploads.abort(multipart)
    },

    async listStoredChunks(upload, layout) {
      const multipart = toMultipart(upload)
      const parts = multipart && (await uploads.listParts(multipart))
      const sizes = chunkSizes(layout)
      if (parts) return findIndexes(sizes, (size, index) => parts.get(index + 1)?.Size === size)
      const isFinished = (await findSize(upload.key)) === layout.sizeBytes
      return findIndexes(sizes, () => isFinished)
    },

    presignChunkUpload({ key, uploadId }, { index, hash }, expiresAt) {
      if (uploadId === null) throw conflict('this upload was not fully started: start it again')
      const headers = chunkHeaders(hash, support)
      const secondsLeft = Math.floor((expiresAt.getTime() - Date.now()) / 1000)
      const url = presignPublic({
        method: 'PUT',
        key: names.toName(key),
        query: { partNumber: `${index + 1}`, uploadId },
        headers,
        expiresInSeconds: Math.min(maxExpirySeconds, Math.max(1, secondsLeft)),
      })
      return { url, headers }
    },

    async finishUpload(upload, layout) {
      const multipart = toMultipart(upload)
      try {
        if (multipart) return await uploads.complete(multipart, chunkSizes(layout))
      } catch (error) {
        if (!hasCode(error, 'not_found')) throw error
      }
      if ((await getSize(upload.key)) !== layout.sizeBytes) throw bytesGone()
    },

    async reopenUpload(key, layout, badChunks) {
      const name = names.toName(key)
      const uploadId = await uploads.create(name)
      const bad = new Set(badChunks)
      const parts = chunkSizes(layout).map((size, index) => ({
        partNumber: index + 1,
        start: index * layout.chunkSize,
        size,
      }))
      try {
        const good = parts.filter(({ partNumber }) => !bad.has(partNumber - 1))
        await uploads.copyParts({ name, uploadId }, good)
      } catch (error) {
        await uploads.abort({ name, uploadId })
        throw error
      }
      return uploadId
    },

    ownOrigin: findBucketAddress(publicPlace).origin,
    writeChunk: undefined,
    verify: (method, url) => verifyPresigned(signingKey, method, url),
    budget: byteBudget(),
    getSize,
    open: async (key, range, signal) => openReader(key, range, signal),

    read: (key, range, signal) => readRange(openReader(key, range, signal), range, signal),

    presignRead(key, { filename, expiresInSeconds, part }) {
      if (part && !support.servesParts) {
        const query = {
          partNumber: `${part.index + 1}`,
          offset: `${part.start}`,
          size: `${part.size}`,
        }
        const path = `/blobs/${key}`
        return baseUrl() + presign(signingKey, { method: 'GET', path, query, expiresInSeconds })
      }
      const query: Record<string, string> = part
        ? { partNumber: `${part.index + 1}` }
        : { 'response-content-disposition': attachment(filename) }
      return presignPublic({ method: 'GET', key: names.toName(key), query, expiresInSeconds })
    },

    hasObject: async (key, sizeBytes) => (await findSize(key)) === sizeBytes,

    async hash(key, _sizeBytes, { declared, signal } = {}) {
      const sizeBytes = await getSize(key)
      const request = { method: 'GET' as const, key: names.toName(key) }
      const url = presignInternal({ ...request, expiresInSeconds: hashExpirySeconds })
      return hashObject(
        { url, sizeBytes },
        support.refusesWrongBytes ? declared : undefined,
        signal,
      )
    },

    async remove(key) {
      const name = names.toName(key)
      for await (const { Key, UploadId = '' } of uploads.list(name)) {
        if (Key === name) await uploads.abort({ name, uploadId: UploadId })
      }
      await caller.send(new DeleteObjectCommand(toObject(key)))
    },

    space: async () => 'unlimited',

    async *list() {
      for await (const { Key = '', UploadId, Initiated } of uploads.list(names.objects)) {
        const key = names.toKey(Key)
        if (key === undefined || UploadId === undefined) continue
        const createdAt = Initiated && { createdAt: Initiated }
        yield { key, isUpload: true, sizeBytes: 0, uploadId: UploadId, ...createdAt }
      }
      for (let after: string | undefined; ; ) {
        const request = {
          Bucket,
          Prefix: names.objects,
          ...(after && { ContinuationToken: after }),
        }
        const page = await caller.send(new ListObjectsV2Command(request))
        for (const { Key = '', Size = 0, LastModified } of page.Contents ?? []) {
          const key = names.toKey(Key)
          const createdAt = LastModified && { createdAt: LastModified }
          if (key !== undefined) yield { key, isUpload: false, sizeBytes: Size, ...createdAt }
        }
        if (!page.IsTruncated) return
        after = page.NextContinuationToken
      }
    },

    async readIdentity() {
      try {
        const identity = await caller.run(async (signal) => {
          const request = new GetObjectCommand({ Bucket, Key: names.identity })
          const { Body } = await caller.stream(request, { signal })
          return Body?.transformToString()
        })
        return identity?.trim() || undefined
      } catch (error) {
        if (hasCode(error, 'not_found')) return undefined
        throw error
      }
    },

    async writeIdentity(identity) {
      const request = { Bucket, Key: names.identity, Body: `${identity}\n` }
      await caller.send(new PutObjectCommand(request))
    },

    async check() {
      await caller.send(new HeadBucketCommand({ Bucket }), { timeoutMs: caller.timeouts.checkMs })
    },

    close: async () => caller.close(),
  }
}

/** Returns the size of each chunk. */
function chunkSizes({ sizeBytes, chunkSize }: ChunkLayout): number[] {
  const count = Math.ceil(sizeBytes / chunkSize)
  return Array.from({ length: count }, (_, index) =>
    Math.min(chunkSize, sizeBytes - index * chunkSize),
  )
}

function findIndexes(sizes: number[], isStored: (size: number, index: number) => boolean) {
  return new Set(sizes.flatMap((size, index) => (isStored(size, index) ? [index] : [])))
}
