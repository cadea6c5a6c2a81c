/** Tests publishing with a real browser: interruptions, retries and refused files. */

import { plainCard } from '@shoal/cards'
import { mebibyte } from '@shoal/core/units'
import type { ModelFile } from '@shoal/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'
import {
  accessibilityProblems,
  looks,
  openPage,
  reloadPage,
  startBrowser,
  type TestBrowser,
} from '../../../../testing/browser.ts'
import { bigFile, drop, pick } from '../testing/chosen-files.ts'
import { type ChunkGate, openChunkGate } from '../testing/chunk-gate.ts'
import { sha256 } from '../testing/publish.ts'
import { startTestRegistry, type TestRegistry } from '../testing/test-registry.ts'

const chromium = inject('chromium')

describe.skipIf(!chromium)('publishing from a browser', () => {
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
  async function newPublisher(username: string, look?: Parameters<TestBrowser['newVisitor']>[0]) {
    const visitor = await browser.newVisitor(look)
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

  test('a card can be previewed without losing its text', async () => {
    await using visitor = await newPublisher('carla')
    const { page } = visitor
    const card = page.getByLabel('Model card')
    await card.fill('# A\n\nIt *knows* <script>attacked = 1</script> the sea.')
    const busy = { contentType: 'text/html', body: plainCard('not yet', 'busy') }
    await page.route('**/v1/cards', (route) => route.fulfill(busy), { times: 1 })
    await page.getByText('Preview', { exact: true }).click()
    await page.getByText('not yet').waitFor()
    await page.locator('.prose em', { hasText: 'knows' }).waitFor()
    expect(await card.isVisible()).toBe(false)
    expect(await page.evaluate('window.attacked')).toBeUndefined()
    expect(await accessibilityProblems(page)).toEqual([])
    await page.getByText('Write', { exact: true }).click()
    expect(await card.inputValue()).toContain('It *knows*')
    expect(visitor.takeProblems()).toEqual([])
  })

  test('a file chosen while the registry is offline can be chosen again', async () => {
    await using visitor = await newPublisher('noor')
    const { page } = visitor
    const file = bigFile('Tide-7B-Q8_0.gguf', 1)
    await page.getByLabel('Name', { exact: true }).fill('kept')
    await page.route(/chosen-file.*\.js$/, (route) => route.abort())
    await drop(page, [file])
    await page.getByText('part of this page could not be loaded').waitFor()
    await page.unroute(/chosen-file.*\.js$/)
    await drop(page, [file])
    await page.getByLabel('Details read from the files').waitFor()
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('kept')
  })

  test('after a reload in the middle of an upload, only the missing chunks are sent', async () => {
    await using visitor = await newPublisher('ana')
    const { page } = visitor
    await page.addInitScript(noteHashingHere)
    const file = bigFile('Tide-7B-Q8_0.gguf', 1)
    expect(await accessibilityProblems(page)).toEqual([])
    await drop(page, [file])
    await page.getByText('Available. Pull command').waitFor()
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('tide-7b')
    expect(await page.getByLabel('Display name').inputValue()).toBe('Tide 7B')
    expect(await page.getByLabel('Details read from the files').innerText()).toMatch(/llama.*32K/s)
    expect(await accessibilityProblems(page)).toEqual([])

    gate.letThrough(2)
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await stored(2)
    await page.getByText(/^Uploading/).waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    const before = gate.passed.splice(0)
    const asked = page.waitForEvent('dialog')
    const reloaded = reloadPage(page)
    const dialog = await asked
    expect(dialog.type()).toBe('beforeunload')
    await dialog.accept()
    await reloaded
    gate.release()

    await page.getByRole('heading', { name: 'Tide 7B is not fully uploaded' }).waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await pick(page, [bigFile('Tide-7B-Q8_0.gguf', 2)])
    await page
      .getByText('Tide-7B-Q8_0.gguf has different contents than when the upload started.')
      .waitFor()
    await pick(page, [file])
    await page.getByRole('heading', { name: 'Tide 7B is published' }).waitFor()
    expect(await accessibilityProblems(page)).toEqual([])

    expect(before).toHaveLength(2)
    expect(gate.passed.filter((number) => before.includes(number))).toEqual([])
    expect(await readyFile('tide-7b')).toMatchObject({
      status: 'ready',
      sha256_hash: sha256(file.bytes),
      quantization: 'Q8_0',
    })
    expect(await page.evaluate('window.hashesHere')).toBe(0)
    await page.getByRole('link', { name: 'View model' }).click()
    await page.getByRole('heading', { level: 1, name: 'Tide 7B' }).waitFor()
    expect(visitor.takeProblems().filter(isNoFreeName)).toEqual([])
  })

  test('an error is shown if the browser forbids WebAssembly in the worker', async () => {
    await using visitor = await newPublisher('vera')
    const { page } = visitor
    await page.route(/hash-worker.*\.js$/, async (route) => {
      const response = await route.fetch()
      const headers = { ...response.headers(), 'content-security-policy': "default-src 'self'" }
      await route.fulfill({ response, headers })
    })
    await drop(page, [bigFile('calm-Q8_0.gguf', 11, 17)])
    await page.getByText('Available. Pull command').waitFor()
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByText(/^Could not hash the file: .*WebAssembly/).waitFor()
    await page.unrouteAll()
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { name: 'Tide 7B is published' }).waitFor()
  })

  test('a chunk that fails twice is sent a third time, and a Retry-After is counted down', async () => {
    await using visitor = await newPublisher('bea')
    const { page } = visitor
    const file = bigFile('storm-Q8_0.gguf', 3)
    await drop(page, [file])
    gate.answerNext(
      { status: 500, detail: 'internal server error' },
      { status: 503, detail: 'the store is offline', retryAfterSeconds: 2 },
    )
    await page.getByText('Available. Pull command').waitFor()
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByText(/Retrying in [12] s/).waitFor()
    await page.getByRole('heading', { name: 'Tide 7B is published' }).waitFor()
    expect(gate.stored).toBe(4)
    expect(await readyFile('storm')).toMatchObject({ sha256_hash: sha256(file.bytes) })
    await page.getByRole('button', { name: 'Publish another' }).click()
    await page.getByText('Drop .gguf files here').waitFor()
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('')
  })

  test('a paused upload resumes, and a canceled one leaves nothing behind', async () => {
    await using visitor = await newPublisher('cleo')
    const { page } = visitor
    await drop(page, [bigFile('gale-Q8_0.gguf', 4)])
    gate.letThrough(1)
    await page.getByText('Available. Pull command').waitFor()
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await stored(1)
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('heading', { name: 'Paused: Tide 7B' }).waitFor()
    gate.letThrough(1)
    await page.getByRole('button', { name: 'Resume' }).click()
    await stored(2)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Cancel upload' }).click()
    await page.getByText('Drop .gguf files here').waitFor()
    expect((await registry.get('/v1/models/gale')).status).toBe(404)
    expect(await page.getByText('is not fully uploaded').count()).toBe(0)
  })

  test('an upload that exceeds the quota leaves no model behind, and can be retried once the quota is raised', async () => {
    await using visitor = await newPublisher('nora')
    const { page } = visitor
    const { db } = await registry.connect()
    const allow = (quota_bytes: number | null) =>
      db.updateTable('account').set({ quota_bytes }).where('username', '=', 'nora').execute()
    await allow(1_000_000)
    await drop(page, [bigFile('swell-Q8_0.gguf', 10, 2)])
    await page.getByText('Available. Pull command').waitFor()
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByText('Quota exceeded: 0 B of 1.00 MB used').waitFor()
    expect((await registry.get('/v1/models/swell')).status).toBe(404)
    await allow(null)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { name: 'Tide 7B is published' }).waitFor()
    expect(await readyFile('swell')).toMatchObject({ status: 'ready' })
  })

  test('if the session ends during an upload, signing in in another tab is enough to continue', async () => {
    await using visitor = await newPublisher('dora')
    const { page, context } = visitor
    await drop(page, [bigFile('haze-Q8_0.gguf', 5)])
    gate.letThrough(1)
    await page.getByText('Available. Pull command').waitFor()
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await stored(1)
    await context.clearCookies()
    gate.release()
    await page.getByText('Your session has ended. Your upload is saved').waitFor()
    const account = { username: 'dora', password: 'password of dora' }
    await context.request.post(`${origin}/v1/auth/login`, { headers: { origin }, data: account })
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { name: 'Tide 7B is published' }).waitFor()
    expect(gate.stored).toBe(4)
  })

  test('a lost connection is shown, and the upload resumes when the connection is back', async () => {
    await using visitor = await newPublisher('iris')
    const { page } = visitor
    const file = bigFile('squall-Q8_0.gguf', 9)
    await drop(page, [file])
    gate.letThrough(1)
    await page.getByText('Available. Pull command').waitFor()
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await stored(1)
    gate.cut()
    // The message depends on which request fails first: sending a chunk, or checking whether a chunk has arrived.
    await page.getByText(/The (connection was lost|registry is not responding)\. /).waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    gate.restore()
    gate.release()
    await page.getByRole('heading', { name: 'Tide 7B is published' }).waitFor()
    expect(await readyFile('squall')).toMatchObject({ sha256_hash: sha256(file.bytes) })
  })

  test('without IndexedDB, publishing works, with a note that the tab must stay open', async () => {
    await using visitor = await newPublisher('olga')
    const { page } = visitor
    await page.addInitScript("Object.defineProperty(window, 'indexedDB', { value: undefined })")
    await reloadPage(page)
    await drop(page, [bigFile('drizzle-Q8_0.gguf', 12)])
    gate.letThrough(1)
    await page.getByText('Available. Pull command').waitFor()
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await stored(1)
    await page.getByText('This browser cannot save the upload: keep this tab open').waitFor()
    gate.release()
    await page.getByRole('heading', { name: /is published/ }).waitFor()
    expect(await readyFile('drizzle')).toMatchObject({ status: 'ready' })
    expect(await page.getByText('Stopped: ').count()).toBe(0)
  })

  test('without IndexedDB, an upload can be canceled', async () => {
    await using visitor = await newPublisher('lena')
    const { page } = visitor
    await page.addInitScript("Object.defineProperty(window, 'indexedDB', { value: undefined })")
    await reloadPage(page)
    await drop(page, [bigFile('hail-Q8_0.gguf', 13)])
    gate.letThrough(1)
    await page.getByText('Available. Pull command').waitFor()
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await stored(1)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Cancel upload' }).click()
    await page.getByText('Drop .gguf files here').waitFor()
    expect((await registry.get('/v1/models/hail')).status).toBe(404)
  })

  test('if the session has expired, the form keeps the files, and publishing works after signing in in another tab', async () => {
    await using visitor = await newPublisher('mara')
    const { page, context } = visitor
    await drop(page, [bigFile('pond-Q8_0.gguf', 19, 2)])
    await page.getByText('Available. Pull command').waitFor()
    await context.clearCookies()
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    const link = page.getByRole('link', { name: 'Sign in again in another tab' })
    await link.waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    const opening = context.waitForEvent('page')
    await link.click()
    const login = await opening
    await login.getByLabel('Username').fill('mara')
    await login.getByLabel('Password', { exact: true }).fill('password of mara')
    await login.getByRole('button', { name: 'Sign in', exact: true }).click()
    await login.getByRole('heading', { level: 1, name: 'Publish' }).waitFor()
    await login.close()
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByRole('heading', { name: 'Tide 7B is published' }).waitFor()
  })

  test('hashing that is interrupted by a reload continues where it stopped, and the bar never runs backwards', async () => {
    await using visitor = await newPublisher('orla')
    const { page } = visitor
    await page.addInitScript(noteProgress)
    await page.addInitScript(stopFirstHashing)
    await reloadPage(page)
    const file = bigFile('rill-Q8_0.gguf', 24)
    await drop(page, [file])
    await page.getByText('Available. Pull command').waitFor()
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await expect.poll(() => page.evaluate('window.hashed')).toEqual([16 * mebibyte])
    await page.getByText(/^Computing the checksum: 16\.8 MB/).waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    page.once('dialog', (dialog) => dialog.accept())
    await reloadPage(page)
    await page.getByRole('heading', { name: 'Tide 7B is not fully uploaded' }).waitFor()
    gate.letThrough(2)
    await pick(page, [file])
    await stored(2)
    gate.release()
    await page.getByRole('heading', { name: 'Tide 7B is published' }).waitFor()
    const whole = file.bytes.length
    expect(await page.evaluate('window.hashed')).toEqual([32 * mebibyte, 48 * mebibyte, whole])
    const shown = (await page.evaluate('window.percents')) as number[]
    expect(shown.length).toBeGreaterThan(2)
    expect(shown).toEqual(shown.toSorted((a, b) => a - b))
    expect(await readyFile('rill')).toMatchObject({ sha256_hash: sha256(file.bytes) })
  })

  test('a large file is sent while it is being hashed, and a reload repeats neither', async () => {
    await using visitor = await newPublisher('rosa')
    const { page } = visitor
    await page.addInitScript(noteProgress)
    await page.addInitScript(stopFirstHashing)
    await reloadPage(page)
    const file = bigFile('fjord-Q8_0.gguf', 27, 130)
    await drop(page, [file])
    await page.getByText('Available. Pull command').waitFor()
    gate.letThrough(1)
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await stored(1) // hashing has stopped after the first chunk
    expect(await page.evaluate('window.hashed')).toEqual([16 * mebibyte])
    await page.getByText(/^Uploading/).waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    const before = gate.passed.splice(0)
    page.once('dialog', (dialog) => dialog.accept())
    await reloadPage(page)
    await page.getByRole('heading', { name: 'Tide 7B is not fully uploaded' }).waitFor()
    gate.release()
    await pick(page, [file])
    await page.getByRole('heading', { name: 'Tide 7B is published' }).waitFor()
    expect(before).toHaveLength(1)
    expect(gate.passed.filter((number) => before.includes(number))).toEqual([])
    expect(await page.evaluate('window.hashed[0]')).toBe(32 * mebibyte)
    const shown = (await page.evaluate('window.percents')) as number[]
    expect(shown).toEqual(shown.toSorted((a, b) => a - b))
    expect(await readyFile('fjord')).toMatchObject({ sha256_hash: sha256(file.bytes) })
  })

  test('one bar shows the progress of several files, and never runs backwards', async () => {
    await using visitor = await newPublisher('pia')
    const { page } = visitor
    await page.addInitScript(noteProgress)
    await reloadPage(page)
    await drop(page, [bigFile('beck-Q8_0.gguf', 25), bigFile('beck-Q4_0.gguf', 26)])
    await page.getByText('Available. Pull command').waitFor()
    gate.letThrough(3)
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await stored(3)
    expect(await page.getByRole('progressbar').count()).toBe(1)
    // The bar must not move back if a chunk must be sent again.
    gate.answerNext({ status: 500, detail: 'internal server error' })
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('heading', { name: 'Paused: Tide 7B' }).waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    gate.release()
    await page.getByRole('heading', { name: 'Tide 7B is published' }).waitFor()
    const shown = (await page.evaluate('window.percents')) as number[]
    expect(shown.length).toBeGreaterThan(3)
    expect(shown).toEqual(shown.toSorted((a, b) => a - b))
  })

  test.each(looks)(
    'is accessible in the $theme theme at a width of $width pixels',
    async (look) => {
      await using visitor = await newPublisher(`${look.theme}-${look.width}`, look)
      const { page } = visitor
      await page.getByRole('button', { name: 'Publish', exact: true }).click()
      expect(await accessibilityProblems(page)).toEqual([])
      const nonsense = { name: 'nonsense.gguf', header: 'bm8gbW9kZWw=', seed: 0, mebibytes: 0 }
      await drop(page, [nonsense, bigFile('breeze-Q8_0.gguf', 8, 2)])
      await page.getByText('Available. Pull command').waitFor()
      expect(await accessibilityProblems(page)).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false)
      expect(visitor.takeProblems().filter(isNoFreeName)).toEqual([])
    },
  )

  test('the name of another user’s model is refused, and files can be added to one’s own model', async () => {
    await using visitor = await newPublisher('fay')
    const { page, context } = visitor
    const token = await registry.register('gwen')
    await registry.post('/v1/models', { token, body: { name: 'mist' } })
    const dew = { name: 'dew', display_name: 'Morning dew' }
    const { request } = context
    await request.post(`${origin}/v1/models`, { headers: { origin }, data: dew })
    await drop(page, [bigFile('mist-Q8_0.gguf', 6, 2)])
    await page.getByText('Already taken by gwen.').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('dew')
    await page.getByText('This model already exists. Your files will be added to it').waitFor()
    await page.getByRole('button', { name: 'Add files' }).click()
    await page.getByRole('heading', { name: 'Morning dew is published' }).waitFor()
    expect(await readyFile('dew')).toMatchObject({ filename: 'mist-Q8_0.gguf' })

    await openPage(page, `${origin}/m/dew/edit`)
    await page.getByRole('link', { name: 'Add a file' }).click()
    await drop(page, [bigFile('other-Q8_0.gguf', 7, 2)])
    await page.getByText('This model already exists. Your files will be added to it').waitFor()
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('dew')
  })
})

/**
 * A script that counts the hashes computed in the page's main thread. Hashes in workers are not counted, because each
 * worker has its own `SubtleCrypto`.
 */
const noteHashingHere = `
  window.hashesHere = 0
  const { digest } = SubtleCrypto.prototype
  SubtleCrypto.prototype.digest = function (...given) {
    window.hashesHere += 1
    return digest.apply(this, given)
  }`

/** A script that records each value of the progress bar. */
const noteProgress = `
  window.percents = []
  new MutationObserver(() => {
    const bar = document.querySelector('[role=progressbar]')
    if (bar) window.percents.push(Number(bar.getAttribute('aria-valuenow')))
  }).observe(document, { subtree: true, childList: true, attributes: true })`

/**
 * A script that records the progress of hashing in `window.hashed`. In the first page of a tab that hashes a file,
 * hashing stops after the first chunk, as if it were very slow.
 */
const stopFirstHashing = `
  window.hashed = []
  const isFirst = sessionStorage.getItem('hashing') === null
  const { Worker } = window
  window.Worker = class extends Worker {
    constructor(...given) {
      super(...given)
      this.addEventListener('message', ({ data }) => {
        if (data.type !== 'progress') return
        if (isFirst) this.terminate()
        sessionStorage.setItem('hashing', 'stopped')
        hashed.push(data.bytesDone)
      })
    }
  }`

/** Returns true for every problem except the 404 that the browser logs when the page finds that a name is available. */
const isNoFreeName = (problem: string) => !problem.includes('status of 404')
