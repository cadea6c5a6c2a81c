import { readSettings, type Setting, variablesOf } from '@shoal/core/settings'
import { ConfigError } from '../../errors.ts'
import { s3Settings } from '../../settings/s3-settings.ts'
import type { S3Config } from './open-s3.ts'

/**
 * Reads the S3 settings. Returns undefined if none of them is set. If a value is invalid or missing, throws a
 * `ConfigError` with the variable's name in its message.
 */
export function readS3Config(env: Record<string, string | undefined>): S3Config | undefined {
  const variables = Object.values(s3Settings).flatMap((one: Setting<unknown>) => variablesOf(one))
  const isUsed = variables.some((variable) => env[variable]?.trim())
  if (!isUsed) return undefined
  const settings = readSettings(s3Settings, { env }, (message) => {
    throw new ConfigError(message)
  })
  const require = (value: string | undefined, variable: string): string => {
    if (value) return value
    throw new ConfigError(`${variable} is not set: it is required for an S3 store`)
  }
  return {
    bucket: {
      endpoint: require(settings.s3Endpoint, 'SHOAL_S3_ENDPOINT'),
      bucket: require(settings.s3Bucket, 'SHOAL_S3_BUCKET'),
      region: settings.s3Region,
      usesPathStyle: settings.s3UsesPathStyle,
    },
    publicEndpoint: settings.s3PublicEndpoint,
    credentials: {
      accessKeyId: require(settings.s3AccessKeyId, 'SHOAL_S3_ACCESS_KEY_ID'),
      secretAccessKey: require(settings.s3SecretAccessKey, 'SHOAL_S3_SECRET_ACCESS_KEY'),
    },
    prefix: settings.s3Prefix,
  }
}
