import { randomUUID } from 'node:crypto'
import { readRegistryConfig } from '@shoal/registry'
import { expect, test } from 'vitest'
import { hasS3, s3Address } from '../../../../testing/servers.ts'
import { realRegistry } from '../testing/real-registry.ts'
import { makeHome } from '../testing/run-shoal.ts'
import { shoalHere } from '../testing/shoal-here.ts'

test('shoal admin store shows the free space of a folder', async () => {
  await using registry = await realRegistry()
  await using home = await makeHome()
  const { stdout } = await shoalHere(['admin', 'store', '--data', registry.dataDirectory], {
    home: home.path,
  })
  expect(stdout).toMatch(
    /^a folder on this machine: .* free\n0 B reserved for open uploads, .* kept free\n$/,
  )
})

/** Returns the settings of a registry with an unused prefix and base URL. */
async function makeEnvironment() {
  const s3 = await s3Address()
  return {
    SHOAL_S3_ENDPOINT: s3.endpoint,
    SHOAL_S3_BUCKET: s3.bucket,
    SHOAL_S3_PREFIX: `${randomUUID()}/`,
    SHOAL_S3_ACCESS_KEY_ID: s3.accessKeyId,
    SHOAL_S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
    SHOAL_BASE_URL: `https://${randomUUID()}.example`,
  }
}

test.skipIf(!hasS3)(
  'shoal admin store shows what an S3 store supports, and adds its rules',
  async () => {
    const env = await makeEnvironment()
    await using registry = await realRegistry({ s3: readRegistryConfig(env).s3 })
    await using home = await makeHome()
    const run = (...flags: string[]) =>
      shoalHere(['admin', 'store', '--data', registry.dataDirectory, ...flags], {
        home: home.path,
        env,
      })
    const before = await run()
    expect(before.stdout).toContain('rejects damaged chunks: yes')
    expect(before.stdout).toContain('serves single chunks of objects: no')
    expect(before.stdout).toContain('CORS rule: missing')
    expect(before.stdout).toContain(env.SHOAL_BASE_URL)
    expect(before.stderr).toContain('shoal admin store --configure')
    expect((await run('--configure')).exitCode).toBe(2) // not confirmed
    await run('--configure', '--yes')
    const { stdout } = await run('--json')
    expect(JSON.parse(stdout)).toMatchObject({ kind: 's3', found: { cors: true, lifecycle: true } })
  },
)

test.skipIf(!hasS3)('the CORS rule allows preflight requests from the pages', async () => {
  const env = await makeEnvironment()
  const origin = env.SHOAL_BASE_URL
  const preflight = async () => {
    const response = await fetch(
      `${env.SHOAL_S3_ENDPOINT}/${env.SHOAL_S3_BUCKET}/shoal/objects/x?partNumber=1`,
      {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': 'PUT',
          'access-control-request-headers': 'x-amz-content-sha256,x-amz-checksum-sha256',
        },
      },
    )
    return response.headers.get('access-control-allow-origin')
  }
  await using registry = await realRegistry({ s3: readRegistryConfig(env).s3 })
  await using home = await makeHome()
  expect(await preflight()).toBeNull()
  const words = ['admin', 'store', '--configure', '--yes', '--data', registry.dataDirectory]
  await shoalHere(words, { home: home.path, env })
  expect(await preflight()).toBe(origin)
})
