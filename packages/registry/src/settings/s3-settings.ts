/** The settings of an S3 store. Without them, files are kept in the data folder. */
import { readFileSync } from 'node:fs'
import { choice, type Parse, setting, word } from '@shoal/core/settings'
import { parseBaseUrl } from './values.ts'

/** Temporary keys, such as those of AWS STS, begin like this and expire within hours. */
const temporaryKey = /^ASIA/

const parseAccessKeyId: Parse<string> = (text, refuse) =>
  temporaryKey.test(text.trim())
    ? refuse('must not be a temporary key (ASIA…): URLs signed with it would expire too early')
    : text.trim()

/** Empty, or a path with a trailing slash and without a leading one. */
const parsePrefix: Parse<string> = (text, refuse) => {
  const prefix = text.trim()
  if (/^([\w.-]+\/)*$/.test(prefix)) return prefix
  return refuse(`must be like shoal/, with a slash at the end, not "${prefix}"`)
}

/** The contents of a file, for secrets that are mounted into a container. */
const fromFile =
  <T>(parse: Parse<T>): Parse<T> =>
  (path, refuse) => {
    try {
      return parse(readFileSync(path.trim(), 'utf8'), refuse)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error
      return refuse(`must be a readable file: ${error.message}`)
    }
  }

export const s3Settings = {
  /** Undefined: there is no S3 store. */
  s3Endpoint: setting({
    variable: 'SHOAL_S3_ENDPOINT',
    parse: parseBaseUrl,
    description: 'address of the S3 store, such as `https://s3.example.org`',
  }),
  s3PublicEndpoint: setting({
    variable: 'SHOAL_S3_PUBLIC_ENDPOINT',
    parse: parseBaseUrl,
    defaultPhrase: '`SHOAL_S3_ENDPOINT`',
    description: 'address at which clients reach the S3 store',
    details: 'presigned URLs begin with it',
  }),
  s3Bucket: setting({
    variable: 'SHOAL_S3_BUCKET',
    parse: word,
    description: 'bucket, which must exist',
  }),
  s3Prefix: setting({
    variable: 'SHOAL_S3_PREFIX',
    parse: parsePrefix,
    default: 'shoal/',
    description: "beginning of the names of all of the registry's objects",
    details: 'registries that share a bucket need different ones',
  }),
  s3Region: setting({
    variable: 'SHOAL_S3_REGION',
    parse: word,
    default: 'us-east-1',
    description: 'region of the bucket',
  }),
  s3UsesPathStyle: setting({
    variable: 'SHOAL_S3_PATH_STYLE',
    parse: choice({ on: true, off: false }),
    default: 'on',
    description: '`off`: the bucket is part of the hostname instead of the path',
  }),
  s3AccessKeyId: setting({
    variable: 'SHOAL_S3_ACCESS_KEY_ID',
    parse: parseAccessKeyId,
    description: 'ID of the access key',
    details: 'temporary keys are refused',
  }),
  s3SecretAccessKey: setting({
    variable: 'SHOAL_S3_SECRET_ACCESS_KEY',
    parse: word,
    description: 'secret access key',
  }),
  s3AccessKeyIdFile: setting({
    variable: 'SHOAL_S3_ACCESS_KEY_ID_FILE',
    parse: fromFile(parseAccessKeyId),
    description: 'file with the ID of the access key',
  }),
  s3SecretAccessKeyFile: setting({
    variable: 'SHOAL_S3_SECRET_ACCESS_KEY_FILE',
    parse: fromFile(word),
    description: 'file with the secret access key',
  }),
}
