/** Tests with a real browser that only one tab at a time works on an upload. */
import type { ModelFile } from '@shoal/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'
import {
  accessibilityProblems,
  openPage,
  type Page,
  reloadPage,
  startBrowser,
  type TestBrowser,
} from '../../../../testing/browser.ts'
import { bigFile, drop, pick, type Synthetic } from '../testing/chosen-files.ts'
import { type ChunkGate, openChunkGate } from '../testing/chunk-gate.ts'
import { sha256 } from '../testing/publish.ts'
import { startTestRegistry, type TestRegistry } from '../testing/test-registry.ts'

const chromium = inject('chromium')

describe.skipIf(!chromium)('publishing in several tabs', () => {
  const stack = new AsyncDisposableStack()
  let registry: TestRegistry
  let browser: TestBrowser
  let gate: ChunkGate
  let origin: string

  beforeAll(async () => {
    gate = stack.use(await openChunkGate())
    origin = gate.url
    registry = await startTestRegistry({ baseUrl: origin })
    stack.defer(() => registry.close())
    gate.leadTo(registry.port)
    browser = stack.use(await startBrowser(chromium ?? '', [origin]))
  })
  afterEach(() => gate.reset())
  afterAll(() => stack.disposeAsync())

  /** Opens the publish page as a new, signed-in user. */
  async function newPublisher(username: string) {
    const visitor = await browser.newVisitor()
    const { page, context } = visitor
    const account = { username, password: `password of ${username}` }
    await context.request.post(`${origin}/v1/auth/register`, { headers: { origin }, data: account })
    await openPage(page, `${origin}/publish`)
    return visitor
  }

  const stored = (chunks: number) =>
    expect.poll(() => gate.stored, { timeout: 30_000 }).toBe(chunks)

  async function readyFile(model: string): Promise<ModelFile | undefined> {
    const { body }: { body: ModelFile[] } = await registry.get(`/v1/models/${model}/files`)
    return body[0]
  }

  /** Starts to publish a file, and returns when the registry has stored one of its four chunks. */
  async function publishOneChunk(page: Page, file: Synthetic) {
    await drop(page, [file])
    gate.letThrough(1)
    await page.getByText('Available. Pull command').waitFor()
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await stored(1)
  }

  test('a second tab shows an upload as running in another tab, and can resume it once that tab is closed', async () => {
    await using visitor = await newPublisher('hana')
    const { page, context } = visitor
    const file = bigFile('fog-Q8_0.gguf', 7)
    await publishOneChunk(page, file)
    const second = await context.newPage()
    await openPage(second, `${origin}/publish`)
    await second.getByRole('heading', { name: 'Tide 7B is being published in another' }).waitFor()
    expect(await second.getByText('is not fully uploaded').count()).toBe(0)
    expect(await second.getByRole('button', { name: 'Discard' }).count()).toBe(0)
    expect(await accessibilityProblems(second)).toEqual([])

    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('heading', { name: 'Paused: Tide 7B' }).waitFor()
    await reloadPage(second)
    await second.getByRole('heading', { name: 'Tide 7B is being published in another' }).waitFor()

    await page.close()
    await second.getByRole('heading', { name: 'Tide 7B is not fully uploaded' }).waitFor()
    const before = gate.passed.splice(0)
    gate.release()
    await pick(second, [file])
    await second.getByRole('heading', { name: 'Tide 7B is published' }).waitFor()
    expect(gate.passed).not.toContain(before[0])
    expect(await readyFile('fog')).toMatchObject({ sha256_hash: sha256(file.bytes) })
  })

  test('an upload is discarded only after a confirmation', async () => {
    await using visitor = await newPublisher('ines')
    const { page, context } = visitor
    await publishOneChunk(page, bigFile('rime-Q8_0.gguf', 14))
    await page.close()
    const next = await context.newPage()
    await openPage(next, `${origin}/publish`)
    await next.getByRole('button', { name: 'Discard' }).click()
    const dialog = next.getByRole('dialog', { name: 'Discard the upload of Tide 7B?' })
    await dialog.waitFor()
    expect(await accessibilityProblems(next)).toEqual([])
    await next.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    expect(await registry.get('/v1/models/rime')).toMatchObject({ status: 200 })
    await next.getByRole('button', { name: 'Discard' }).click()
    await next.getByRole('button', { name: 'Discard upload' }).click()
    await next.getByText('is not fully uploaded').waitFor({ state: 'detached' })
    expect((await registry.get('/v1/models/rime')).status).toBe(404)
  })

  test('a tab that still lists an upload as unfinished cannot discard what another tab is uploading or has uploaded', async () => {
    await using visitor = await newPublisher('jana')
    const { page, context } = visitor
    const file = bigFile('sleet-Q8_0.gguf', 15)
    await publishOneChunk(page, file)
    await page.close()
    const [owner, other, late] = [
      await context.newPage(),
      await context.newPage(),
      await context.newPage(),
    ] as const
    for (const tab of [owner, other, late]) {
      await openPage(tab, `${origin}/publish`)
      await tab.getByRole('heading', { name: 'Tide 7B is not fully uploaded' }).waitFor()
    }
    gate.letThrough(1)
    await pick(owner, [file])
    await stored(2)
    await other.getByRole('button', { name: 'Discard' }).click()
    await other.getByRole('button', { name: 'Discard upload' }).click()
    const elsewhere = other.getByRole('heading', { name: 'Tide 7B is being published in another' })
    await elsewhere.waitFor()
    gate.release()
    await owner.getByRole('heading', { name: 'Tide 7B is published' }).waitFor()
    await elsewhere.waitFor({ state: 'detached' })
    expect(await other.getByText('is not fully uploaded').count()).toBe(0)

    await late.getByRole('button', { name: 'Discard' }).click()
    await late.getByRole('button', { name: 'Discard upload' }).click()
    await late.getByText('is not fully uploaded').waitFor({ state: 'detached' })
    expect(await readyFile('sleet')).toMatchObject({ sha256_hash: sha256(file.bytes) })
  })

  test('a second tab cannot publish more files to a model that another tab is publishing, and leaves that upload alone', async () => {
    await using visitor = await newPublisher('kira')
    const { page, context } = visitor
    await publishOneChunk(page, bigFile('frost-Q8_0.gguf', 16))
    const second = await context.newPage()
    await openPage(second, `${origin}/publish`)
    await second.getByLabel('Name', { exact: true }).fill('frost') // before a name is suggested
    await drop(second, [bigFile('frost-Q4_0.gguf', 17)])
    await second.getByText('This model already exists.').waitFor()
    await second.getByRole('button', { name: 'Add files' }).click()
    await second.getByText('This model is being published in another tab.').waitFor()
    expect(await accessibilityProblems(second)).toEqual([])
    await second.getByRole('button', { name: 'Close' }).click()
    await second.getByRole('heading', { name: 'Tide 7B is being published in another' }).waitFor()
    gate.release()
    await page.getByRole('heading', { name: 'Tide 7B is published' }).waitFor()
    expect(await readyFile('frost')).toMatchObject({ filename: 'frost-Q8_0.gguf' })
  })
})
