/** Tests publishing with a real browser: interruptions, retries and several tabs. */

import { plainCard } from '@shoal/cards'
import { mebibyte } from '@shoal/core/units'
import type { ModelFile } from '@shoal/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'
import {
  openPage,
  type Page,
  reloadPage,
  startBrowser,
  type TestBrowser,
} from '../../../../testing/browser.ts'
import { drop, makeChosenFile, pick, type Synthetic } from '../testing/chosen-files.ts'
import { type ChunkGate, openChunkGate } from '../testing/chunk-gate.ts'
import { expectUsable } from '../testing/expect-usable.ts'
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

  /** Opens the publish page as a new, signed-in user, after running `scripts` in it. */
  async function newPublisher(username: string, ...scripts: string[]) {
    const visitor = await browser.newVisitor()
    const { page, context } = visitor
    const account = { username, password: `password of ${username}` }
    await context.request.post(`${origin}/v1/auth/register`, { headers: { origin }, data: account })
    for (const script of scripts) await page.addInitScript(script)
    await openPage(page, `${origin}/publish`)
    return visitor
  }

  const stored = (chunks: number) =>
    expect.poll(() => gate.stored, { timeout: 30_000 }).toBe(chunks)

  async function readyFile(model: string): Promise<ModelFile | undefined> {
    const { body }: { body: ModelFile[] } = await registry.get(`/v1/models/${model}/files`)
    return body[0]
  }

  const statusOf = async (model: string) => (await registry.get(`/v1/models/${model}`)).status

  const publishButton = (page: Page) => page.getByRole('button', { name: 'Publish', exact: true })
  const nameField = (page: Page) => page.getByLabel('Name', { exact: true })
  const emptyForm = (page: Page) => page.getByText('Drop .gguf files here')
  const done = (page: Page) => page.getByRole('heading', { name: 'Tide 7B is published' })
  const unfinished = (page: Page) =>
    page.getByRole('heading', { name: 'Tide 7B is not fully uploaded' })
  const elsewhere = (page: Page) =>
    page.getByRole('heading', { name: 'Tide 7B is being published in another' })

  /** Starts to publish files, and returns when the registry has stored this number of their chunks. */
  async function publishChunks(page: Page, count: number, ...files: Synthetic[]) {
    await drop(page, files)
    gate.letThrough(count)
    await page.getByText('Available. Pull command').waitFor()
    await publishButton(page).click()
    await stored(count)
  }

  test('the form, its errors, its preview and its dialog are accessible', async () => {
    await using visitor = await newPublisher('carla')
    const { page } = visitor
    await publishButton(page).click()
    await page.getByText('Enter a name for the model.').waitFor()
    await expectUsable(page)

    const card = page.getByLabel('Model card')
    await card.fill('# A\n\nIt *knows* <script>attacked = 1</script> the sea.')
    const busy = { contentType: 'text/html', body: plainCard('not yet', 'busy') }
    await page.route('**/v1/cards', (route) => route.fulfill(busy), { times: 1 })
    await page.getByText('Preview', { exact: true }).click()
    await page.getByText('not yet').waitFor()
    await page.locator('.prose em', { hasText: 'knows' }).waitFor()
    expect(await card.isVisible()).toBe(false)
    expect(await page.evaluate('window.attacked')).toBeUndefined()
    await expectUsable(page)
    await page.getByText('Write', { exact: true }).click()
    expect(await card.inputValue()).toContain('It *knows*')

    const nonsense = { name: 'nonsense.gguf', header: 'bm8gbW9kZWw=', seed: 0, mebibytes: 0 }
    await drop(page, [nonsense, makeChosenFile('breeze-Q8_0.gguf', 8, 1)])
    await page.getByText('Available. Pull command').waitFor()
    await expectUsable(page)

    await page.getByRole('link', { name: 'Chat', exact: true }).click()
    await page.getByText('you will have to choose the files again').waitFor()
    await expectUsable(page)
    await page.getByRole('button', { name: 'Stay' }).click()
    await page.getByLabel('Details read from the files').waitFor()
    expect(visitor.takeProblems().filter(isNoFreeName)).toEqual([])
  })

  test('if scripts cannot be loaded, or WebAssembly is forbidden, an error is shown, and the visitor can try again', async () => {
    await using visitor = await newPublisher('noor')
    const { page } = visitor
    await page.route(/hash-worker.*\.js$/, async (route) => {
      const response = await route.fetch()
      const headers = { ...response.headers(), 'content-security-policy': "default-src 'self'" }
      await route.fulfill({ response, headers })
    })
    const file = makeChosenFile('Tide-7B-Q8_0.gguf', 1, 2)
    await nameField(page).fill('kept')
    await page.route(/chosen-file.*\.js$/, (route) => route.abort())
    await drop(page, [file])
    await page.getByText('part of this page could not be loaded').waitFor()
    await expectUsable(page)
    await page.unroute(/chosen-file.*\.js$/)
    await drop(page, [file])
    await page.getByLabel('Details read from the files').waitFor()
    expect(await nameField(page).inputValue()).toBe('kept')

    await page.getByText('Available. Pull command').waitFor()
    await publishButton(page).click()
    await page.getByText(/^Could not hash the file: .*WebAssembly/).waitFor()
    await expectUsable(page)
    await page.unrouteAll()
    await page.getByRole('button', { name: 'Try again' }).click()
    await done(page).waitFor()
  })

  test('after a reload in the middle of an upload, only the missing chunks are sent', async () => {
    await using visitor = await newPublisher('ana', noteHashingHere)
    const { page } = visitor
    const file = makeChosenFile('Tide-7B-Q8_0.gguf', 1, 3)
    await drop(page, [file])
    await page.getByText('Available. Pull command').waitFor()
    expect(await nameField(page).inputValue()).toBe('tide-7b')
    expect(await page.getByLabel('Display name').inputValue()).toBe('Tide 7B')
    expect(await page.getByLabel('Details read from the files').innerText()).toMatch(/llama.*32K/s)

    gate.letThrough(2)
    await publishButton(page).click()
    await stored(2)
    await page.getByText(/^Uploading/).waitFor()
    await expectUsable(page)
    const before = gate.passed.splice(0)
    const asked = page.waitForEvent('dialog')
    const reloaded = reloadPage(page)
    const dialog = await asked
    expect(dialog.type()).toBe('beforeunload')
    await dialog.accept()
    await reloaded
    gate.release()

    await unfinished(page).waitFor()
    await pick(page, [makeChosenFile('Tide-7B-Q8_0.gguf', 2, 3)])
    await page
      .getByText('Tide-7B-Q8_0.gguf has different contents than when the upload started.')
      .waitFor()
    await expectUsable(page)
    await pick(page, [file])
    await done(page).waitFor()
    await expectUsable(page)

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

  test('a chunk that fails twice is sent a third time, and a Retry-After is counted down; then a file is added', async () => {
    await using visitor = await newPublisher('bea')
    const { page } = visitor
    const file = makeChosenFile('storm-Q8_0.gguf', 3, 1)
    await drop(page, [file])
    gate.answerNext(
      { status: 500, detail: 'internal server error' },
      { status: 503, detail: 'the store is offline', retryAfterSeconds: 2 },
    )
    await page.getByText('Available. Pull command').waitFor()
    await publishButton(page).click()
    await page.getByText(/Retrying in [12] s/).waitFor()
    await done(page).waitFor()
    expect(gate.stored).toBe(1)
    expect(await readyFile('storm')).toMatchObject({ sha256_hash: sha256(file.bytes) })
    await page.getByRole('button', { name: 'Publish another' }).click()
    await emptyForm(page).waitFor()
    expect(await nameField(page).inputValue()).toBe('')

    await nameField(page).fill('storm') // before a name is suggested
    await drop(page, [makeChosenFile('storm-Q4_0.gguf', 7, 1)])
    await page.getByText('This model already exists. Your files will be added to it').waitFor()
    await page.getByRole('button', { name: 'Add files' }).click()
    await done(page).waitFor()
    const { body }: { body: ModelFile[] } = await registry.get('/v1/models/storm/files')
    expect(body.map(({ filename }) => filename).toSorted()).toEqual([
      'storm-Q4_0.gguf',
      'storm-Q8_0.gguf',
    ])
  })

  test('a paused upload resumes, and a canceled one leaves nothing behind', async () => {
    await using visitor = await newPublisher('cleo')
    const { page } = visitor
    await publishChunks(page, 1, makeChosenFile('gale-Q8_0.gguf', 4, 3))
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('heading', { name: 'Paused: Tide 7B' }).waitFor()
    gate.letThrough(1)
    await page.getByRole('button', { name: 'Resume' }).click()
    await stored(2)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('The uploaded parts will be deleted.').waitFor()
    await expectUsable(page)
    await page.getByRole('button', { name: 'Cancel upload' }).click()
    await emptyForm(page).waitFor()
    expect(await statusOf('gale')).toBe(404)
    expect(await page.getByText('is not fully uploaded').count()).toBe(0)
  })

  test('an upload that exceeds the quota leaves no model behind, and can be retried once the quota is raised', async () => {
    await using visitor = await newPublisher('nora')
    const { page } = visitor
    const { db } = await registry.connect()
    const allow = (quota_bytes: number | null) =>
      db.updateTable('account').set({ quota_bytes }).where('username', '=', 'nora').execute()
    await allow(1_000_000)
    await drop(page, [makeChosenFile('swell-Q8_0.gguf', 10, 1)])
    await page.getByText('Available. Pull command').waitFor()
    await publishButton(page).click()
    await page.getByText('Quota exceeded: 0 B of 1.00 MB used').waitFor()
    expect(await statusOf('swell')).toBe(404)
    await allow(null)
    await page.getByRole('button', { name: 'Try again' }).click()
    await done(page).waitFor()
    expect(await readyFile('swell')).toMatchObject({ status: 'ready' })
  })

  test('if the session ends before or during an upload, signing in in another tab is enough to continue', async () => {
    await using visitor = await newPublisher('mara')
    const { page, context } = visitor
    await drop(page, [makeChosenFile('haze-Q8_0.gguf', 5, 2)])
    await page.getByText('Available. Pull command').waitFor()
    await context.clearCookies()
    await publishButton(page).click()
    const link = page.getByRole('link', { name: 'Sign in again in another tab' })
    await link.waitFor()
    await expectUsable(page)
    const opening = context.waitForEvent('page')
    await link.click()
    const login = await opening
    await login.getByLabel('Username').fill('mara')
    await login.getByLabel('Password', { exact: true }).fill('password of mara')
    await login.getByRole('button', { name: 'Sign in', exact: true }).click()
    await login.getByRole('heading', { level: 1, name: 'Publish' }).waitFor()
    await login.close()

    gate.letThrough(1)
    await publishButton(page).click()
    await stored(1)
    await context.clearCookies()
    gate.release()
    await page.getByText('Your session has ended. Your upload is saved').waitFor()
    const account = { username: 'mara', password: 'password of mara' }
    await context.request.post(`${origin}/v1/auth/login`, { headers: { origin }, data: account })
    await page.getByRole('button', { name: 'Try again' }).click()
    await done(page).waitFor()
    expect(gate.stored).toBe(2)
  })

  test('a lost connection is shown, and the upload resumes when the connection is back', async () => {
    await using visitor = await newPublisher('iris')
    const { page } = visitor
    const file = makeChosenFile('squall-Q8_0.gguf', 9, 2)
    await publishChunks(page, 1, file)
    gate.cut()
    // The message depends on which request fails first: sending a chunk, or checking whether a chunk has arrived.
    await page.getByText(/The (connection was lost|registry is not responding)\. /).waitFor()
    await expectUsable(page)
    gate.restore()
    gate.release()
    await done(page).waitFor()
    expect(await readyFile('squall')).toMatchObject({ sha256_hash: sha256(file.bytes) })
  })

  test('without IndexedDB, uploads can be published and canceled, with a note that the tab must stay open', async () => {
    const noDatabase = "Object.defineProperty(window, 'indexedDB', { value: undefined })"
    await using visitor = await newPublisher('olga', noDatabase)
    const { page } = visitor
    const note = page.getByText('This browser cannot save the upload: keep this tab open')
    await publishChunks(page, 1, makeChosenFile('hail-Q8_0.gguf', 13, 2))
    await note.waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Cancel upload' }).click()
    await emptyForm(page).waitFor()
    expect(await statusOf('hail')).toBe(404)

    gate.reset()
    await publishChunks(page, 1, makeChosenFile('drizzle-Q8_0.gguf', 12, 2))
    await note.waitFor()
    gate.release()
    await done(page).waitFor()
    expect(await readyFile('drizzle')).toMatchObject({ status: 'ready' })
    expect(await page.getByText('Stopped: ').count()).toBe(0)
  })

  test('hashing that is interrupted by a reload continues where it stopped, and the bar never runs backwards', async () => {
    await using visitor = await newPublisher('orla', noteProgress, stopFirstHashing)
    const { page } = visitor
    const file = makeChosenFile('rill-Q8_0.gguf', 24, 3)
    await drop(page, [file])
    await page.getByText('Available. Pull command').waitFor()
    await publishButton(page).click()
    await expect.poll(() => page.evaluate('window.hashed')).toEqual([16 * mebibyte])
    await page.getByText(/^Computing the checksum: 16\.8 MB/).waitFor()
    await expectUsable(page)
    page.once('dialog', (dialog) => dialog.accept())
    await reloadPage(page)
    await unfinished(page).waitFor()
    gate.letThrough(2)
    await pick(page, [file])
    await stored(2)
    gate.release()
    await done(page).waitFor()
    expect(await page.evaluate('window.hashed')).toEqual([32 * mebibyte, file.bytes.length])
    const shown = (await page.evaluate('window.percents')) as number[]
    expect(shown.length).toBeGreaterThan(2)
    expect(shown).toEqual(shown.toSorted((a, b) => a - b))
    expect(await readyFile('rill')).toMatchObject({ sha256_hash: sha256(file.bytes) })
  })

  test('a large file is sent while it is being hashed, and a reload repeats neither', async () => {
    await using visitor = await newPublisher('rosa', noteProgress, stopFirstHashing)
    const { page } = visitor
    // A file of 128 MiB would take five seconds of processor time, so the page takes a smaller file for a large one.
    await page.route(/run-job.*\.js$/, async (route) => {
      const response = await route.fetch()
      const [before = '', after = '', ...more] = (await response.text()).split(String(2 ** 27))
      expect([after === '', more]).toEqual([false, []])
      await route.fulfill({ response, body: before + String(2 ** 25) + after })
    })
    const file = makeChosenFile('fjord-Q8_0.gguf', 27, 3)
    await publishChunks(page, 1, file) // hashing has stopped after the first chunk
    expect(await page.evaluate('window.hashed')).toEqual([16 * mebibyte])
    await page.getByText(/^Uploading/).waitFor()
    await expectUsable(page)
    const before = gate.passed.splice(0)
    page.once('dialog', (dialog) => dialog.accept())
    await reloadPage(page)
    await unfinished(page).waitFor()
    gate.release()
    await pick(page, [file])
    await done(page).waitFor()
    expect(before).toHaveLength(1)
    expect(gate.passed.filter((number) => before.includes(number))).toEqual([])
    expect(await page.evaluate('window.hashed[0]')).toBe(32 * mebibyte)
    const shown = (await page.evaluate('window.percents')) as number[]
    expect(shown).toEqual(shown.toSorted((a, b) => a - b))
    expect(await readyFile('fjord')).toMatchObject({ sha256_hash: sha256(file.bytes) })
  })

  test('one bar shows the progress of several files, and never runs backwards', async () => {
    await using visitor = await newPublisher('pia', noteProgress)
    const { page } = visitor
    const files = [makeChosenFile('beck-Q8_0.gguf', 25, 2), makeChosenFile('beck-Q4_0.gguf', 26, 2)]
    await publishChunks(page, 3, ...files)
    expect(await page.getByRole('progressbar').count()).toBe(1)
    // The bar must not move back if a chunk must be sent again.
    gate.answerNext({ status: 500, detail: 'internal server error' })
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('heading', { name: 'Paused: Tide 7B' }).waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    gate.release()
    await done(page).waitFor()
    const shown = (await page.evaluate('window.percents')) as number[]
    expect(shown.length).toBeGreaterThan(3)
    expect(shown).toEqual(shown.toSorted((a, b) => a - b))
  })

  describe('in several tabs', () => {
    test('an upload can be changed only in its own tab; once that tab is closed, another can resume it', async () => {
      await using visitor = await newPublisher('hana')
      const { page, context } = visitor
      const file = makeChosenFile('fog-Q8_0.gguf', 16, 3)
      await publishChunks(page, 1, file)
      const second = await context.newPage()
      await openPage(second, `${origin}/publish`)
      await elsewhere(second).waitFor()
      expect(await second.getByText('is not fully uploaded').count()).toBe(0)
      expect(await second.getByRole('button', { name: 'Discard' }).count()).toBe(0)
      await expectUsable(second)

      await nameField(second).fill('fog') // before a name is suggested
      await drop(second, [makeChosenFile('fog-Q4_0.gguf', 17, 1)])
      await second.getByText('This model already exists.').waitFor()
      await second.getByRole('button', { name: 'Add files' }).click()
      await second.getByText('This model is being published in another tab.').waitFor()
      await expectUsable(second)
      await second.getByRole('button', { name: 'Close' }).click()
      await elsewhere(second).waitFor()

      await page.getByRole('button', { name: 'Pause' }).click()
      await page.getByRole('heading', { name: 'Paused: Tide 7B' }).waitFor()
      await reloadPage(second)
      await elsewhere(second).waitFor()
      gate.letThrough(1)
      await page.getByRole('button', { name: 'Resume' }).click()
      await stored(2)

      await page.close()
      await unfinished(second).waitFor()
      const before = gate.passed.splice(0)
      gate.release()
      await pick(second, [file])
      await done(second).waitFor()
      expect(gate.passed).not.toContain(before[0])
      const { sha256_hash, filename } = (await readyFile('fog')) ?? {}
      expect([filename, sha256_hash]).toEqual(['fog-Q8_0.gguf', sha256(file.bytes)])
    })

    test('an upload is discarded only after a confirmation', async () => {
      await using visitor = await newPublisher('ines')
      const { page, context } = visitor
      await publishChunks(page, 1, makeChosenFile('rime-Q8_0.gguf', 14, 2))
      await page.close()
      const next = await context.newPage()
      await openPage(next, `${origin}/publish`)
      await next.getByRole('button', { name: 'Discard' }).click()
      const dialog = next.getByRole('dialog', { name: 'Discard the upload of Tide 7B?' })
      await dialog.waitFor()
      await expectUsable(next)
      await next.keyboard.press('Escape')
      await dialog.waitFor({ state: 'hidden' })
      expect(await statusOf('rime')).toBe(200)
      await next.getByRole('button', { name: 'Discard' }).click()
      await next.getByRole('button', { name: 'Discard upload' }).click()
      await next.getByText('is not fully uploaded').waitFor({ state: 'detached' })
      expect(await statusOf('rime')).toBe(404)
    })

    test('a tab that still lists an upload as unfinished cannot discard what another tab is uploading or has uploaded', async () => {
      await using visitor = await newPublisher('jana')
      const { page, context } = visitor
      const file = makeChosenFile('sleet-Q8_0.gguf', 15, 3)
      await publishChunks(page, 1, file)
      await page.close()
      const [owner, other, late] = [
        await context.newPage(),
        await context.newPage(),
        await context.newPage(),
      ] as const
      for (const tab of [owner, other, late]) {
        await openPage(tab, `${origin}/publish`)
        await unfinished(tab).waitFor()
      }
      gate.letThrough(1)
      await pick(owner, [file])
      await stored(2)
      await other.getByRole('button', { name: 'Discard' }).click()
      await other.getByRole('button', { name: 'Discard upload' }).click()
      await elsewhere(other).waitFor()
      gate.release()
      await done(owner).waitFor()
      await elsewhere(other).waitFor({ state: 'detached' })
      expect(await other.getByText('is not fully uploaded').count()).toBe(0)

      await late.getByRole('button', { name: 'Discard' }).click()
      await late.getByRole('button', { name: 'Discard upload' }).click()
      await late.getByText('is not fully uploaded').waitFor({ state: 'detached' })
      expect(await readyFile('sleet')).toMatchObject({ sha256_hash: sha256(file.bytes) })
    })
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
