/** S3 store settings. If none of them is set, files are kept in the data folder. */
import { choice, type Parse, setting, word } from '@shoal/core/settings'
import { readSecretFile } from '@shoal/files/secret'
import { parseBaseUrl } from './values.ts'

/** The prefix of temporary keys, such as those of AWS STS, which expire within hours. */
const temporaryKey = /^ASIA/

const parseAccessKeyId: Parse<string> = (text, refuse) =>
  temporaryKey.test(text.trim())
    ? refuse('must not be a temporary key (ASIA…): URLs signed with it would expire too early')
    : text.trim()

/** Parses a prefix: empty, or a path with a trailing slash and no leading slash. */
const parsePrefix: Parse<string> = (text, refuse) => {
  const prefix = text.trim()
  if (/^([\w.-]+\/)*$/.test(prefix)) return prefix
  return refuse(
    `must look like shoal/ or team/shoal/ (letters, digits, ".", "_" or "-", with a slash after each part), not "${prefix}"`,
  )
}

export const s3Settings = {
  /** Undefined means no S3 store. */
  s3Endpoint: setting({
    variable: 'SHOAL_S3_ENDPOINT',
    parse: parseBaseUrl,
    description: 'URL of the S3 store, such as `https://s3.example.org`',
  }),
  s3PublicEndpoint: setting({
    variable: 'SHOAL_S3_PUBLIC_ENDPOINT',
    parse: parseBaseUrl,
    defaultPhrase: '`SHOAL_S3_ENDPOINT`',
    description: 'URL at which clients reach the S3 store',
    details: 'presigned URLs begin with it',
  }),
  s3Bucket: setting({
    variable: 'SHOAL_S3_BUCKET',
    parse: word,
    description: 'name of the bucket, which must already exist',
  }),
  s3Prefix: setting({
    variable: 'SHOAL_S3_PREFIX',
    parse: parsePrefix,
    default: 'shoal/',
    description: "prefix of the registry's object names, with a trailing slash",
    details: 'registries that share a bucket need different prefixes',
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
    description: 'set to `off` to put the bucket name in the hostname instead of the path',
  }),
  s3AccessKeyId: setting({
    variable: 'SHOAL_S3_ACCESS_KEY_ID',
    readFile: readSecretFile,
    parse: parseAccessKeyId,
    description: 'access key ID',
    details: 'temporary keys are refused',
  }),
  s3SecretAccessKey: setting({
    variable: 'SHOAL_S3_SECRET_ACCESS_KEY',
    readFile: readSecretFile,
    parse: word,
    description: 'secret access key',
  }),
}
