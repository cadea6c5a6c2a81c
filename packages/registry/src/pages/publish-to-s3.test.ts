/** Tests that a real browser can publish a file to an S3 store whose public address differs from the registry's. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeGgufFile } from '@shoal/model-file/testing'
import type { Download, ModelFile } from '@shoal/protocol'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { openPage, startBrowser } from '../../../../testing/browser.ts'
import { freePort } from '../../../../testing/free-port.ts'
import { hasS3, s3Address } from '../../../../testing/servers.ts'
import { openAdmin } from '../main.ts'
import { sha256 } from '../testing/publish.ts'
import { makeBucket } from '../testing/s3-bucket.ts'
import { startTestRegistry } from '../testing/test-registry.ts'

const chromium = inject('chromium')
const sizeBytes = 40_000_000 // three chunks
const waitOptions = { timeout: 60_000 }

describe.skipIf(!chromium || !hasS3)('publishing from a browser into S3', () => {
  test('sends the chunks to the store’s public endpoint, which the page’s content security policy allows', async () => {
    const s3 = await s3Address()
    await using stack = new AsyncDisposableStack()
    const folder = await mkdtemp(join(tmpdir(), 'shoal-publish-'))
    stack.defer(() => rm(folder, { recursive: true }))
    const publicEndpoint = s3.endpoint.replace('127.0.0.1', 'localhost')
    expect(publicEndpoint).not.toBe(s3.endpoint)
    const port = await freePort()
    const origin = `http://localhost:${port}`
    const bucket = { ...(await makeBucket()), publicEndpoint }
    const registry = await startTestRegistry({ port, baseUrl: origin, s3: bucket })
    stack.defer(() => registry.close())
    const admin = await openAdmin(registry.config)
    onTestFinished(() => admin.close())
    expect(await admin.describeStore(true)).toMatchObject({ found: { cors: true } })

    const browser = stack.use(await startBrowser(chromium ?? '', [origin, publicEndpoint]))
    const { page, context, takeProblems } = stack.use(await browser.newVisitor())
    const account = { username: 'ana', password: 'password of ana' }
    await context.request.post(`${origin}/v1/auth/register`, { headers: { origin }, data: account })
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'PUT') sent.push(new URL(request.url()).origin)
    })
    const opened = await openPage(page, `${origin}/publish`)
    const policy = opened?.headers()['content-security-policy']
    expect(policy).toContain(`connect-src 'self' ${publicEndpoint};`)

    const path = join(folder, 'tide.gguf')
    await writeGgufFile(path, sizeBytes)
    await page.locator('input[type=file]').setInputFiles(path)
    await page.getByText('Available. Pull command').waitFor()
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByRole('heading', { name: /is published/ }).waitFor(waitOptions)
    expect(sent).toEqual([publicEndpoint, publicEndpoint, publicEndpoint])
    // Chromium logs every 404, including the one with which the registry reports that the name is available.
    expect(takeProblems()).toEqual([expect.stringContaining('status of 404')])

    const { body: files }: { body: ModelFile[] } = await registry.get('/v1/models/tide/files')
    const [file] = files
    const { body }: { body: Download } = await registry.get(`/v1/files/tide/download/${file?.id}`)
    expect(new URL(body.direct_url).origin).toBe(publicEndpoint)
    expect(sha256((await registry.bytes(body.direct_url)).bytes)).toBe(file?.sha256_hash)
  })
})
