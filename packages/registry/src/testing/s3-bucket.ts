import { randomUUID } from 'node:crypto'
import { CreateBucketCommand, type S3Client } from '@aws-sdk/client-s3'
import type { S3Address } from '../../../../testing/s3/start-s3.ts'
import type { S3Config } from '../store/s3/open-s3.ts'
import { openS3Client } from '../store/s3/s3-client.ts'

/** Creates a bucket on the tests' S3 server. */
export async function makeBucket(s3: S3Address): Promise<S3Config> {
  const { endpoint, region, accessKeyId, secretAccessKey } = s3
  const config = {
    bucket: { endpoint, region, bucket: `tests-${randomUUID()}`, usesPathStyle: true },
    credentials: { accessKeyId, secretAccessKey },
    publicEndpoint: undefined,
    prefix: 'shoal/',
  }
  await withS3Client(config, (client, Bucket) => client.send(new CreateBucketCommand({ Bucket })))
  return config
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
