import { randomUUID } from 'node:crypto'
import { CreateBucketCommand, type S3Client } from '@aws-sdk/client-s3'
import type { S3Address } from '../../../../testing/s3/start-s3.ts'
import { s3Address } from '../../../../testing/servers.ts'
import { openS3, type S3Config } from '../store/s3/open-s3.ts'
import { openS3Client } from '../store/s3/s3-client.ts'
import type { S3Support } from '../store/s3/s3-support.ts'

/** Creates a bucket on an S3 server, by default the tests' own, and returns the settings of a store that uses it. */
export async function makeBucket(server?: S3Address): Promise<S3Config> {
  const { endpoint, region, accessKeyId, secretAccessKey } = server ?? (await s3Address())
  const config = {
    bucket: { endpoint, region, bucket: `tests-${randomUUID()}`, usesPathStyle: true },
    credentials: { accessKeyId, secretAccessKey },
    publicEndpoint: undefined,
    prefix: 'shoal/',
  }
  await withS3Client(config, (client, Bucket) => client.send(new CreateBucketCommand({ Bucket })))
  return config
}

let probing: Promise<S3Support> | undefined

/**
 * Creates a bucket like `makeBucket`, whose settings say what the S3 server supports. Probing the server at each start
 * would double the time that three nodes need to start, so each process probes it only once.
 */
export async function makeProbedBucket(): Promise<S3Config> {
  const config = await makeBucket()
  probing ??= probe(config)
  return { ...config, support: await probing }
}

async function probe(config: S3Config): Promise<S3Support> {
  const options = { signingKey: '', baseUrl: () => '', isProbed: true }
  const { store, support } = await openS3(config, options)
  await store.close()
  return support
}

/** Calls `use` with an S3 client for this bucket. The client is independent of the registry. */
export async function withS3Client<T>(
  { bucket, credentials }: S3Config,
  use: (client: S3Client, bucket: string) => Promise<T>,
): Promise<T> {
  const client = openS3Client(bucket, credentials)
  try {
    return await use(client, bucket.bucket)
  } finally {
    client.destroy()
  }
}
