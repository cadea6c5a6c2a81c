import { randomUUID } from 'node:crypto'
import { CreateBucketCommand } from '@aws-sdk/client-s3'
import type { S3Address } from '../../../../testing/s3/start-s3.ts'
import type { S3Config } from '../store/s3/open-s3.ts'
import { openS3Client } from '../store/s3/s3-client.ts'

/** Creates a bucket on the tests' S3 server. */
export async function makeBucket(s3: S3Address): Promise<S3Config> {
  const { endpoint, region, accessKeyId, secretAccessKey } = s3
  const credentials = { accessKeyId, secretAccessKey }
  const bucket = { endpoint, region, bucket: `tests-${randomUUID()}`, usesPathStyle: true }
  const client = openS3Client(bucket, credentials)
  await client.send(new CreateBucketCommand({ Bucket: bucket.bucket }))
  client.destroy()
  return { bucket, credentials, publicEndpoint: undefined, prefix: 'shoal/' }
}
