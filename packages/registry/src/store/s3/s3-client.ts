/** Sends the registry's own requests to an S3 store with the AWS SDK, and converts errors. */
import { S3Client, S3ServiceException } from '@aws-sdk/client-s3'
import { isDomainError, unavailable } from '../../errors.ts'
import { isUnavailable } from '../../unavailable.ts'
import { bytesGone } from '../object-reader.ts'
import type { S3Bucket, S3Credentials } from './presign-s3.ts'

/** One attempt, and three retries with increasing random delays. */
const maxAttempts = 4
const connectTimeoutMs = 3_000
/** Longer than a store needs to assemble the parts of a large file. */
const responseTimeoutMs = 60_000
const retryAfterSeconds = 5

export function openS3Client(place: S3Bucket, credentials: S3Credentials): S3Client {
  return new S3Client({
    endpoint: place.endpoint,
    region: place.region,
    forcePathStyle: place.usesPathStyle,
    credentials,
    maxAttempts,
    // Some stores refuse the checksums that the SDK adds by default.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: connectTimeoutMs,
      requestTimeout: responseTimeoutMs,
      throwOnRequestTimeout: true,
    },
  })
}

/** Awaits a request, and converts its error: see `toStoreError`. */
export async function callStore<T>(request: Promise<T>): Promise<T> {
  try {
    return await request
  } catch (error) {
    throw toStoreError(error)
  }
}

/**
 * Converts an error: to `not_found` if an object or upload does not exist, and to `unavailable` if the store is
 * unreachable, slow or full, or refuses the access key. Returns other errors unchanged.
 */
export function toStoreError(error: unknown): unknown {
  if (isDomainError(error) || !(error instanceof Error)) return error
  if (!(error instanceof S3ServiceException)) {
    const isFetchError = error instanceof TypeError && error.cause !== undefined
    const isFailure = isFetchError || timeoutNames.has(error.name) || isUnavailable(error)
    return isFailure ? storeUnavailable(error) : error
  }
  if (absentNames.has(error.name)) return bytesGone()
  const status = error.$metadata.httpStatusCode ?? 503
  const isRefusal = status === 403 || error.name === 'NoSuchBucket'
  return isRefusal || status === 429 || status >= 500 ? storeUnavailable(error) : error
}

/** Whether the store has responded with one of these error codes. */
export function isS3Error(error: unknown, ...names: string[]): boolean {
  return error instanceof S3ServiceException && names.includes(error.name)
}

const absentNames = new Set(['NoSuchKey', 'NoSuchUpload', 'NotFound'])
const timeoutNames = new Set(['TimeoutError', 'AbortError'])

function storeUnavailable(cause: Error): Error {
  const error = unavailable('the S3 store of this registry cannot be used at the moment', {
    retryAfterSeconds,
  })
  error.cause = cause
  return error
}
