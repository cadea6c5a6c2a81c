import { ListObjectsV2Command } from '@aws-sdk/client-s3'
import { refusalExplainer } from './explain-refusal.ts'
import { objectNames } from './object-names.ts'
import { s3Presigner } from './presign-s3.ts'
import { probeS3 } from './probe-s3.ts'
import { openS3Caller } from './s3-client.ts'
import { openS3Store, type S3Store, type S3StoreOptions } from './s3-store.ts'
import { minimalSupport, type S3Support } from './s3-support.ts'

/** The S3 store that the settings describe. */
export type S3Config = Pick<
  S3StoreOptions,
  'bucket' | 'publicEndpoint' | 'credentials' | 'prefix' | 'timeouts'
> & {
  /** What the store supports, if that is already known. The store is then not probed. */
  support?: S3Support
}

type Options = Pick<S3StoreOptions, 'signingKey' | 'baseUrl'> & {
  /**
   * Whether to probe the store: to find out which optional features it supports, and to check that it permits every
   * operation that a registry needs. If false, the store is assumed to support no optional features.
   */
  isProbed: boolean
}

/**
 * Opens an S3 store. If the store cannot be reached, does not have the bucket or refuses the access key, throws a
 * `ConfigError` that contains the name of the setting to check.
 */
export async function openS3(
  config: S3Config,
  options: Options,
): Promise<{ store: S3Store; support: S3Support; clockOffsetMs: number }> {
  const caller = openS3Caller(config.bucket, config.credentials, config.timeouts)
  const { bucket, endpoint } = config.bucket
  const names = objectNames(config.prefix)
  const allow = refusalExplainer(config.bucket)
  try {
    const request = { Bucket: bucket, Prefix: config.prefix, MaxKeys: 1 }
    await allow('list', () => caller.send(new ListObjectsV2Command(request)))
    const presign = s3Presigner(config.bucket, config.credentials, caller.clockOffsetMs)
    const probe = () => probeS3({ caller, endpoint, bucket, names, presign, allow })
    const support = config.support ?? (options.isProbed ? await probe() : minimalSupport)
    const clockOffsetMs = caller.clockOffsetMs()
    const store = openS3Store({ ...config, ...options, support, clockOffsetMs })
    return { store, support, clockOffsetMs }
  } finally {
    caller.close()
  }
}
