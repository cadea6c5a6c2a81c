import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../../../testing/temporary-folder.ts'
import { readS3Config } from './read-s3-config.ts'

const env = {
  SHOAL_S3_ENDPOINT: 'https://s3.example.org',
  SHOAL_S3_BUCKET: 'models',
  SHOAL_S3_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE',
  SHOAL_S3_SECRET_ACCESS_KEY: 'secret',
}

/** Creates a file with these contents, and returns its path. */
function write(contents: string): string {
  const folder = temporaryFolder()
  const path = join(folder, 'secret')
  writeFileSync(path, contents)
  return path
}

test('without settings there is no S3 store', () => {
  expect(readS3Config({})).toBeUndefined()
})

test('the region, the prefix and the URL style of an S3 store have defaults', () => {
  expect(readS3Config(env)).toEqual({
    bucket: {
      endpoint: 'https://s3.example.org',
      bucket: 'models',
      region: 'us-east-1',
      usesPathStyle: true,
    },
    publicEndpoint: undefined,
    credentials: { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'secret' },
    prefix: 'shoal/',
  })
  expect(readS3Config({ ...env, SHOAL_S3_PATH_STYLE: 'off' })).toMatchObject({
    bucket: { usesPathStyle: false },
  })
  const both = { ...env, SHOAL_S3_PUBLIC_ENDPOINT: 'https://files.example.org/' }
  expect(readS3Config(both)).toMatchObject({ publicEndpoint: 'https://files.example.org' })
})

test.each(Object.keys(env))('an S3 store without %s is refused', (variable) => {
  expect(() => readS3Config({ ...env, [variable]: undefined })).toThrow(`${variable} is not set`)
})

test('the access key can be read from files, whose trailing line breaks are ignored', () => {
  const { SHOAL_S3_ENDPOINT, SHOAL_S3_BUCKET } = env
  const config = readS3Config({
    SHOAL_S3_ENDPOINT,
    SHOAL_S3_BUCKET,
    SHOAL_S3_ACCESS_KEY_ID_FILE: write('AKIA1\n'),
    SHOAL_S3_SECRET_ACCESS_KEY_FILE: write('se/cr+et\r\n'),
  })
  expect(config?.credentials).toEqual({ accessKeyId: 'AKIA1', secretAccessKey: 'se/cr+et' })
  const missing = { SHOAL_S3_ENDPOINT, SHOAL_S3_SECRET_ACCESS_KEY_FILE: '/nowhere/secret' }
  expect(() => readS3Config(missing)).toThrow(
    'SHOAL_S3_SECRET_ACCESS_KEY_FILE must be a readable file: ENOENT',
  )
})

test('temporary access keys are refused, whether they are set directly or in a file', () => {
  const variable = 'SHOAL_S3_ACCESS_KEY_ID'
  const temporary = 'ASIAIOSFODNN7EXAMPLE'
  expect(() => readS3Config({ ...env, [variable]: temporary })).toThrow(
    `${variable} must not be a temporary key`,
  )
  const file = { ...env, [variable]: undefined, [`${variable}_FILE`]: write(`${temporary}\n`) }
  expect(() => readS3Config(file)).toThrow(`${variable}_FILE must not be a temporary key`)
})

test('a prefix is empty or ends with a slash', () => {
  const read = (prefix: string) => readS3Config({ ...env, SHOAL_S3_PREFIX: prefix })?.prefix
  expect(read('team/shoal/')).toBe('team/shoal/')
  for (const wrong of ['shoal', '/shoal/', 'a//', 'a b/']) {
    expect(() => read(wrong), wrong).toThrow('SHOAL_S3_PREFIX must look like shoal/')
  }
})
