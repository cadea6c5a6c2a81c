/**
 * The rules that the bucket needs: a CORS rule that allows pages to send chunks to the store, and a lifecycle rule that
 * aborts uploads that the registry has failed to abort.
 */
import {
  type CORSRule,
  GetBucketCorsCommand,
  GetBucketLifecycleConfigurationCommand,
  type LifecycleRule,
  PutBucketCorsCommand,
  PutBucketLifecycleConfigurationCommand,
} from '@aws-sdk/client-s3'
import type { S3Config } from './open-s3.ts'
import { isS3Error, openS3Caller, type S3Caller } from './s3-client.ts'

export type BucketRules = { cors: CORSRule; lifecycle: LifecycleRule }

/** Which of these rules are already set on the bucket. */
export type FoundRules = { cors: boolean; lifecycle: boolean }

const uploadLifetimeDays = 30
const corsAgeSeconds = 3_600

/** Returns the rules for pages at this origin. */
export function bucketRules({ prefix }: S3Config, origin: string): BucketRules {
  return {
    cors: {
      ID: `shoal pages of ${origin}`,
      AllowedOrigins: [origin],
      AllowedMethods: ['GET', 'HEAD', 'PUT'],
      AllowedHeaders: ['*'],
      ExposeHeaders: ['ETag', 'Content-Range', 'Retry-After'],
      MaxAgeSeconds: corsAgeSeconds,
    },
    lifecycle: {
      ID: `shoal uploads below ${prefix}`,
      Status: 'Enabled',
      Filter: { Prefix: prefix },
      AbortIncompleteMultipartUpload: { DaysAfterInitiation: uploadLifetimeDays },
    },
  }
}

export async function findRules(config: S3Config, rules: BucketRules): Promise<FoundRules> {
  return withRules(config, async (_caller, { cors, lifecycle }) => ({
    cors: cors.some(({ ID }) => ID === rules.cors.ID),
    lifecycle: lifecycle.some(({ ID }) => ID === rules.lifecycle.ID),
  }))
}

/** Adds these rules to the bucket's rules, replacing earlier versions of the same rules. */
export async function writeRules(config: S3Config, rules: BucketRules): Promise<void> {
  await withRules(config, async (caller, { cors, lifecycle }) => {
    const { bucket: Bucket } = config.bucket
    const CORSConfiguration = { CORSRules: merge(cors, rules.cors) }
    await caller.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration }))
    const LifecycleConfiguration = { Rules: merge(lifecycle, rules.lifecycle) }
    const request = { Bucket, LifecycleConfiguration }
    await caller.send(new PutBucketLifecycleConfigurationCommand(request))
  })
}

function merge<Rule extends { ID?: string | undefined }>(existing: Rule[], own: Rule): Rule[] {
  return [...existing.filter(({ ID }) => ID !== own.ID), own]
}

/** Calls `use` with the rules that the bucket has now. */
async function withRules<T>(
  { bucket, credentials, timeouts }: S3Config,
  use: (caller: S3Caller, rules: { cors: CORSRule[]; lifecycle: LifecycleRule[] }) => Promise<T>,
): Promise<T> {
  const caller = openS3Caller(bucket, credentials, timeouts)
  const request = { Bucket: bucket.bucket }
  try {
    const cors = await orNone(caller.send(new GetBucketCorsCommand(request)))
    const lifecycle = await orNone(caller.send(new GetBucketLifecycleConfigurationCommand(request)))
    return await use(caller, { cors: cors?.CORSRules ?? [], lifecycle: lifecycle?.Rules ?? [] })
  } finally {
    caller.close()
  }
}

/** Resolves to undefined if the bucket has no such rules. */
async function orNone<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request
  } catch (error) {
    if (isS3Error(error, 'NoSuchCORSConfiguration', 'NoSuchLifecycleConfiguration'))
      return undefined
    throw error
  }
}
