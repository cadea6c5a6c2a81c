/** Sends the registry's own requests to an S3 store with the AWS SDK, and converts the SDK's errors. */
import {
  type $Command,
  S3Client,
  type S3ClientResolvedConfig,
  S3ServiceException,
  type ServiceInputTypes,
  type ServiceOutputTypes,
} from '@aws-sdk/client-s3'
import { describePage } from '@shoal/core/errors'
import { isDomainError, unavailable } from '../../errors.ts'
import { isUnavailable } from '../../unavailable.ts'
import { bytesGone } from '../object-reader.ts'
import type { S3Bucket, S3Credentials } from './presign-s3.ts'

export type S3Timeouts = {
  /**
   * Timeout for a request, including retries. If the response contains an object's bytes, the timeout applies only
   * until the response begins.
   */
  requestMs: number
  /** Timeout for the request that checks whether the store is available. */
  checkMs: number
  /** Timeout for a request that makes the store copy or join parts, including retries. */
  assemblyMs: number
  /** Maximum pause within a response that contains an object's bytes. */
  silenceMs: number
}

export const defaultTimeouts: S3Timeouts = {
  requestMs: 10_000,
  checkMs: 3_000,
  assemblyMs: 60_000,
  silenceMs: 30_000,
}

/** One attempt, and three retries with increasing random delays. */
const maxAttempts = 4
const connectTimeoutMs = 3_000
const maxCalls = 64
/**
 * Maximum number of connections for reading the bytes of objects. They are limited separately from other connections,
 * because a client that reads slowly occupies one for a long time.
 */
const maxStreams = 512
const retryAfterSeconds = 5
/** The SDK's measurements include the latency and are rounded to seconds. */
const minClockOffsetMs = 60_000

type CallOptions = { timeoutMs?: number; signal?: AbortSignal | undefined }

/**
 * Makes requests. A request fails with `not_found` if an object or upload does not exist, with `unavailable` if the
 * store is unreachable, slow or full, or refuses the access key, and with the reason of `signal` if `signal` is
 * aborted.
 */
export interface S3Caller {
  readonly timeouts: S3Timeouts
  /**
   * How far the store's clock was ahead of this machine's clock when it last responded, in milliseconds; 0 if the
   * difference is less than a minute. Signatures must contain the store's time, because stores accept a difference of
   * only 15 minutes.
   */
  clockOffsetMs(): number
  send<Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
    command: S3Command<Input, Output>,
    options?: CallOptions,
  ): Promise<Output>
  /** Sends a request whose response contains the bytes of an object. Aborting `signal` also ends the response. */
  stream: S3Caller['send']
  /**
   * Runs a function that makes requests itself, without `send` or `stream`. The timeout applies to the whole function.
   * The function must end when its signal is aborted.
   */
  run<T>(request: (signal: AbortSignal) => Promise<T>, options?: CallOptions): Promise<T>
  close(): void
}

type S3Command<Input extends ServiceInputTypes, Output extends ServiceOutputTypes> = $Command<
  Input,
  Output,
  S3ClientResolvedConfig,
  ServiceInputTypes,
  ServiceOutputTypes
>

export function openS3Caller(
  place: S3Bucket,
  credentials: S3Credentials,
  timeouts: S3Timeouts = defaultTimeouts,
  clockOffsetMs = 0,
): S3Caller {
  const calls = openS3Client(place, credentials, maxCalls)
  const streams = openS3Client(place, credentials, maxStreams)
  for (const { config } of [calls, streams]) config.systemClockOffset = clockOffsetMs

  async function run<T>(
    request: (signal: AbortSignal) => Promise<T>,
    { timeoutMs = timeouts.requestMs, signal: given }: CallOptions = {},
  ): Promise<T> {
    given?.throwIfAborted()
    const deadline = new AbortController()
    const timer = setTimeout(() => {
      deadline.abort(storeUnavailable(new Error(`no response within ${timeoutMs} ms`)))
    }, timeoutMs)
    const signal = given ? AbortSignal.any([given, deadline.signal]) : deadline.signal
    try {
      return await request(signal)
    } catch (error) {
      given?.throwIfAborted()
      deadline.signal.throwIfAborted()
      throw toStoreError(error)
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    timeouts,
    clockOffsetMs() {
      const { systemClockOffset: ms } = calls.config // the SDK measures it with each response
      return Math.abs(ms) < minClockOffsetMs ? 0 : ms
    },
    send: (command, options) => run((abortSignal) => calls.send(command, { abortSignal }), options),
    stream: (command, options) =>
      run((abortSignal) => streams.send(command, { abortSignal }), options),
    run,
    close() {
      calls.destroy()
      streams.destroy()
    },
  }
}

export function openS3Client(
  place: S3Bucket,
  credentials: S3Credentials,
  maxSockets = maxCalls,
): S3Client {
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
      httpAgent: { maxSockets },
      httpsAgent: { maxSockets },
    },
  })
}

/** Converts an error to `not_found` or `unavailable`: see `S3Caller`. Returns other errors unchanged. */
export function toStoreError(error: unknown): unknown {
  if (isDomainError(error) || !(error instanceof Error)) return error
  if (!(error instanceof S3ServiceException)) {
    const isFetchError = error instanceof TypeError && error.cause !== undefined
    // The SDK adds `$metadata` if there was no response, or if the response cannot be from an S3 store.
    const isOfRequest = '$metadata' in error || isFetchError || error.name === 'TimeoutError'
    return isOfRequest || isUnavailable(error) ? storeUnavailable(error) : error
  }
  if (absentNames.has(error.name)) return bytesGone()
  const status = error.$metadata.httpStatusCode ?? 503
  const isForeign = describeForeign(error) !== undefined
  const isRefusal = isForeign || status === 403 || error.name === 'NoSuchBucket'
  return isRefusal || status === 429 || status >= 500 ? storeUnavailable(error) : error
}

/**
 * Describes the response of another server, such as a proxy in front of the store or a wrong port; undefined for an
 * error that has another cause. The SDK cannot parse such a response, or finds no error code in it. The response of an
 * S3 store to a HEAD request has no code either, but no body.
 */
export function describeForeign(error: unknown): string | undefined {
  const { $metadata, $responseBodyText } = Object(error) as {
    $metadata?: { httpStatusCode?: number }
    $responseBodyText?: string
  }
  const status = $metadata?.httpStatusCode
  const isOfStore =
    error instanceof S3ServiceException && (error.name !== 'Unknown' || !('body' in error))
  return status === undefined || isOfStore
    ? undefined
    : describePage(status, $responseBodyText ?? '')
}

/** Whether the store has responded with one of these error codes. */
export function isS3Error(error: unknown, ...names: string[]): boolean {
  return error instanceof S3ServiceException && names.includes(error.name)
}

const absentNames = new Set(['NoSuchKey', 'NoSuchUpload', 'NotFound'])

export function storeUnavailable(cause: Error): Error {
  const error = unavailable("this registry's S3 store is unavailable", {
    retryAfterSeconds,
  })
  error.cause = cause
  return error
}
