import type { RegistryConfig } from '../config.ts'
import type { StoreSpace } from '../store/object-store.ts'
import type { BucketRules, FoundRules } from '../store/s3/bucket-rules.ts'
import type { S3Support } from '../store/s3/s3-support.ts'
import type { RegistryStore } from '../store/served-store.ts'

/** What `shoal admin store` shows. */
export type StoreDescription =
  | { kind: 'disk'; space: StoreSpace | 'unlimited' }
  | {
      kind: 's3'
      endpoint: string
      public_endpoint: string
      bucket: string
      prefix: string
      support: S3Support
      /** The rules that the bucket should have, and whether it has them. */
      rules: BucketRules
      found: FoundRules
    }

/**
 * Describes the store. For an S3 store, probes what the store supports and looks up the bucket's rules. If
 * `isConfigured` is true, adds missing rules first. Throws a `ConfigError` if the S3 store cannot be reached.
 */
export async function describeStore(
  { s3, baseUrl, port }: RegistryConfig,
  store: RegistryStore,
  isConfigured: boolean,
): Promise<StoreDescription> {
  if (!s3) return { kind: 'disk', space: await store.space() }
  const { bucketRules, findRules, writeRules } = await import('../store/s3/bucket-rules.ts')
  const { openS3 } = await import('../store/s3/open-s3.ts')
  const { support } = await openS3(s3, { signingKey: '', baseUrl: () => '', isProbed: true })
  const rules = bucketRules(s3, baseUrl ?? `http://localhost:${port}`)
  if (isConfigured) await writeRules(s3, rules)
  return {
    kind: 's3',
    endpoint: s3.bucket.endpoint,
    public_endpoint: s3.publicEndpoint ?? s3.bucket.endpoint,
    bucket: s3.bucket.bucket,
    prefix: s3.prefix,
    support,
    rules,
    found: await findRules(s3, rules),
  }
}
