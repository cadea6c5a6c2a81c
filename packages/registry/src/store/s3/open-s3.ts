import { ListObjectsV2Command, type S3Client, S3ServiceException } from '@aws-sdk/client-s3'
import { ConfigError } from '../../errors.ts'
import { objectNames } from './object-names.ts'
import { s3Presigner } from './presign-s3.ts'
import { probeS3 } from './probe-s3.ts'
import { openS3Client } from './s3-client.ts'
import { openS3Store, type S3Store, type S3StoreOptions } from './s3-store.ts'
import { minimalSupport, type S3Support } from './s3-support.ts'

/** Where the S3 store is and how to access it, from the settings. */
export type S3Config = Pick<S3StoreOptions, 'bucket' | 'publicEndpoint' | 'credentials' | 'prefix'>

type Options = Pick<S3StoreOptions, 'signingKey' | 'baseUrl'> & {
  /** Whether to probe what the store supports. If false, the store is assumed to have no optional features. */
  isProbed: boolean
}

/**
 * Opens an S3 store. If the store cannot be reached, does not have the bucket or refuses the keys, throws a
 * `ConfigError` that contains the name of the setting to check.
 */
export async function openS3(
  config: S3Config,
  options: Options,
): Promise<{ store: S3Store; support: S3Support }> {
  const client = openS3Client(config.bucket, config.credentials)
  const { bucket } = config.bucket
  const names = objectNames(config.prefix)
  try {
    await requireBucket(client, config)
    const presign = s3Presigner(config.bucket, config.credentials)
    const support = options.isProbed
      ? await probeS3({ client, bucket, names, presign })
      : minimalSupport
    return { store: openS3Store({ ...config, ...options, support }), support }
  } finally {
    client.destroy()
  }
}

async function requireBucket(client: S3Client, { bucket: place, prefix }: S3Config) {
  const { bucket, endpoint } = place
  const request = { Bucket: bucket, Prefix: prefix, MaxKeys: 1 }
  try {
    await client.send(new ListObjectsV2Command(request))
  } catch (error) {
    throw new ConfigError(explainRefusal(error, bucket, endpoint), { cause: error })
  }
}

/** Explains an error of the first request, with the name of the setting that may be wrong. */
function explainRefusal(error: unknown, bucket: string, endpoint: string): string {
  if (!(error instanceof S3ServiceException)) {
    const reason = error instanceof Error ? error.message || error.name : String(error)
    return `the S3 store at ${endpoint} cannot be reached (SHOAL_S3_ENDPOINT): ${reason}`
  }
  switch (error.name) {
    case 'NoSuchBucket':
    case 'NotFound':
      return `the S3 store at ${endpoint} has no bucket ${bucket} (SHOAL_S3_BUCKET): create it`
    case 'InvalidAccessKeyId':
      return 'the S3 store has no access key with the ID in SHOAL_S3_ACCESS_KEY_ID'
    case 'SignatureDoesNotMatch':
      return 'SHOAL_S3_SECRET_ACCESS_KEY does not belong to SHOAL_S3_ACCESS_KEY_ID'
    case 'AccessDenied':
    case 'Forbidden':
      return `the access key in SHOAL_S3_ACCESS_KEY_ID is not allowed to list the bucket ${bucket} (SHOAL_S3_BUCKET)`
    case 'PermanentRedirect':
    case 'AuthorizationHeaderMalformed':
      return `the bucket ${bucket} is not in the region that SHOAL_S3_REGION specifies: ${error.message}`
    case 'RequestTimeTooSkewed':
      return `the clock of this machine differs too much from the clock of the S3 store: ${error.message}`
    default:
      return `the S3 store at ${endpoint} refused to list the bucket ${bucket}: ${error.name} ${error.message}`
  }
}
