/** Tests the chat page in a real browser. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  accessibilityProblems,
  looks,
  type Page,
  type TestBrowser,
} from '../../../../testing/browser.ts'
import type { Piece } from '../runtime/runtime.ts'
import { canBrowse, chatBrowser, expectAccessible } from '../testing/chat-browser.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import type { TestDaemon } from '../testing/test-daemon.ts'

/** A runtime that generates reasoning, and then enough words for a test to perform other steps meanwhile. */
function slowRuntime() {
  const pieces: Piece[] = [
    { reasoning: 'They want a list.' },
    ...Array.from({ length: 400 }, (_, index) => ({ text: `- word ${index}\n` })),
  ]
  const pace = () => new Promise<void>((resolve) => setTimeout(resolve, 30))
  return scriptedRuntime({ pieces, pace })
}

const formulas = String.raw`It costs $5 and $6. The area is \(\pi r^2\):

\[
\frac{a}{b}
+ c
\]

\(\frac{1}\) is invalid.`

describe.skipIf(!canBrowse)('in a browser', () => {
  const { stack, startDaemon: start, startBrowser } = chatBrowser()
  let daemon: TestDaemon
  let slow: TestDaemon
  let locked: TestDaemon
  let calculating: TestDaemon
  let browser: TestBrowser

  beforeAll(async () => {
    daemon = await start()
    slow = await start({}, slowRuntime())
    locked = await start({ apiKey: 'secret' }, scriptedRuntime())
    calculating = await start({}, scriptedRuntime({ pieces: [{ text: formulas }] }))
    browser = await startBrowser()
  })
  afterAll(() => stack.disposeAsync())

  test('a question is answered, edited, asked again, saved across a reload, and deleted', async () => {
    await using visitor = await browser.newVisitor()
    const { page, takeProblems } = visitor
    await page.goto(daemon.url)
    await page.getByLabel('Model', { exact: true }).selectOption('shoal-tiny')
    await page.getByRole('button', { name: /^Parameters/ }).click()
    await page.getByLabel('Temperature').fill('0')
    await page.keyboard.press('Escape')

    await ask(page, 'What is the capital of France?')
    await waitForAnswer(page, /Paris/)
    await page.getByRole('button', { name: 'Try again' }).click()
    await waitForAnswer(page, /Paris/)

    await page.getByRole('button', { name: 'Edit your message' }).click()
    await page.getByLabel('Edited message').fill('What is the capital of Italy?')
    await page.keyboard.press('Enter')
    await waitForAnswer(page, /Rome/)
    await answerIsKept(page, /Rome/)
    expect(await page.locator('main li').count()).toBe(2)
    expect(await page.locator('main li', { hasText: 'France' }).count()).toBe(0)

    await page.reload()
    await waitForAnswer(page, /Rome/)
    await page.getByRole('button', { name: /^Parameters: temperature 0$/ }).waitFor()

    await page.getByRole('button', { name: /^Actions for/ }).click()
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByLabel('Chat name').fill('Capitals')
    await page.keyboard.press('Enter')
    await page.locator('a:focus', { hasText: 'Capitals' }).waitFor()

    await page.getByRole('button', { name: 'Actions for Capitals' }).click()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'Talk to shoal-tiny' }).waitFor()
    await page.getByRole('link', { name: 'Capitals' }).waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('heading', { name: /Talk to/ }).waitFor()
    expect(await page.getByRole('link', { name: 'Capitals' }).count()).toBe(0)
    expect(takeProblems()).toEqual([])
  })

  test('formulas are shown as MathML, whose renderer is loaded with the first formula', async () => {
    await using visitor = await browser.newVisitor({ theme: 'dark', width: 390 })
    const { page, takeProblems } = visitor
    const loaded: string[] = []
    page.on('request', (request) => loaded.push(request.url()))
    await page.goto(`http://localhost:${calculating.port}/`)
    await page.locator('#message').waitFor()
    expect(loaded.filter((url) => url.includes('render-math'))).toEqual([])
    await ask(page, 'What is the area?')
    await page.locator('main math').nth(1).waitFor()
    expect(await page.locator('main math').count()).toBe(2)
    await page.locator('main li p', { hasText: 'It costs $5 and $6.' }).first().waitFor()
    await page.getByText(String.raw`\frac{1}`, { exact: true }).waitFor()
    expect(loaded.filter((url) => url.includes('render-math'))).toHaveLength(1)
    expect(await accessibilityProblems(page)).toEqual([])
    expect(takeProblems()).toEqual([])
  })

  test('an answer can be stopped while it is generated, and its text is saved', async () => {
    await using visitor = await browser.newVisitor()
    const { page, takeProblems } = visitor
    await page.goto(`http://127.0.0.1:${slow.port}/`)
    await ask(page, 'List words')
    await page.getByText('word 3', { exact: true }).waitFor()
    expect(await readStatus(page)).toBe('')
    await page.getByText(/^[\d.]+ tok\/s$/).waitFor()
    await page.getByRole('button', { name: 'Stop' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText(/^Stopped · [\d.]+ tok\/s · \d+ tokens$/).waitFor()
    await expect.poll(() => readStatus(page)).toBe('Stopped.')
    await page.locator('#message:focus').waitFor()
    await expect.poll(async () => (await runningOn(slow)).requests).toBe(0)
    await page.getByText('Reasoning').click()
    await page.getByText('They want a list.').waitFor()
    await answerIsKept(page)
    await page.reload()
    await page.getByText('word 3', { exact: true }).waitFor()
    expect(takeProblems()).toEqual([])
  })

  test('if the user leaves the page during an answer, the text so far is saved', async () => {
    await using visitor = await browser.newVisitor()
    const { page } = visitor
    await page.goto(slow.url)
    await ask(page, 'List words')
    await page.getByText('word 5', { exact: true }).waitFor()
    await answerIsKept(page, /word 10/)
    await page.reload()
    await page.getByText('word 10', { exact: true }).waitFor()
    await page.getByText(/^Unfinished/).waitFor()
  })

  test('if the user leaves the page before an answer, the question can be asked again', async () => {
    await using visitor = await browser.newVisitor()
    const { page } = visitor
    await page.clock.install()
    await page.goto(daemon.url)
    await page.route('**/v1/chat/completions', () => undefined) // never answered
    await ask(page, 'What is the capital of France?')
    await chatLinks(page).waitFor()
    await page.clock.runFor(10_000)
    await page.reload()
    const again = page.getByRole('button', { name: 'Ask again' })
    await again.waitFor()
    await page.unroute('**/v1/chat/completions') // before the reload, this would let the request pass
    await again.click()
    await page.getByRole('button', { name: 'Copy the answer' }).waitFor()
  })

  test('the page follows the answer, unless the user has scrolled up', async () => {
    await using visitor = await browser.newVisitor({ height: 500 })
    const { page } = visitor
    await page.goto(slow.url)
    await ask(page, 'List words')
    const isAtEnd = () =>
      page
        .locator('main > div')
        .first()
        .evaluate((list) => {
          return list.scrollHeight - list.clientHeight - list.scrollTop < 60
        })
    await page.getByText('word 16', { exact: true }).waitFor()
    await expect.poll(isAtEnd).toBe(true)
    await page.locator('main > div').first().hover()
    await page.mouse.wheel(0, -400)
    await page.getByText('word 26', { exact: true }).waitFor()
    await expect.poll(isAtEnd).toBe(false)
    await page.getByRole('button', { name: 'Jump to latest' }).click()
    await page.getByText('word 34', { exact: true }).waitFor()
    await expect.poll(isAtEnd).toBe(true)
  })

  test('conversations in two tabs are both saved, and a deletion in one tab is visible in the other tab', async () => {
    await using visitor = await browser.newVisitor()
    const { page, context } = visitor
    const stop = async (tab: Page) => {
      await tab.getByRole('button', { name: 'Stop' }).click()
      await tab.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
    }
    await page.goto(slow.url)
    await ask(page, 'hello')
    await stop(page)
    await page.waitForURL(/#chat-/) // the chat has been saved
    const other = await context.newPage()
    await other.goto(page.url())
    await other.getByRole('button', { name: 'Try again' }).waitFor()

    const answering = (tab: Page) => tab.locator('main li[aria-busy="true"]')
    await ask(page, 'one')
    await answering(page).getByText('word 3', { exact: true }).waitFor()
    await ask(other, 'two')
    await answering(other).getByText('word 3', { exact: true }).waitFor()
    for (const tab of [page, other]) await stop(tab)
    for (const tab of [page, other]) await expect.poll(() => chatLinks(tab).count()).toBe(2)
    const asked: string[] = []
    for (const index of [0, 1]) {
      await chatLinks(page).nth(index).click()
      const mark = () => chatLinks(page).nth(index).getAttribute('aria-current')
      await expect.poll(mark).toBe('page')
      asked.push(await page.locator('main li p.whitespace-pre-wrap').last().innerText())
    }
    expect(asked.toSorted()).toEqual(['one', 'two'])

    await other.getByRole('button', { name: 'Delete all chats' }).click()
    await other.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: /Talk to/ }).waitFor()
    await expect.poll(() => chatLinks(page).count()).toBe(0)
  })

  test('the page asks for a key only once if the daemon requires one', async () => {
    await using visitor = await browser.newVisitor()
    const { page } = visitor
    await page.goto(locked.url)
    await page.getByText('This daemon requires its API key.').waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    await page.getByLabel('API key').fill('wrong')
    await page.keyboard.press('Enter')
    await page.getByText('This API key is wrong.').waitFor()
    await page.getByLabel('API key').fill('secret')
    await page.keyboard.press('Enter')
    await ask(page, 'hi')
    await waitForAnswer(page, /Hello! How are you\?/)
    await answerIsKept(page)
    await page.reload()
    await waitForAnswer(page, /Hello! How are you\?/)
  })

  test.each(looks)(
    'the page is accessible in the $theme theme at a width of $width pixels',
    async ({ theme, width }) => {
      // With reduced motion, the theme changes immediately.
      const look = { theme, width, height: 700, reducedMotion: 'reduce' as const }
      await using visitor = await browser.newVisitor(look)
      const { page, takeProblems } = visitor
      async function check() {
        await expectAccessible(page)
        if (width > 400) return
        await page.setViewportSize({ width: 320, height: 700 })
        await page.emulateMedia({ colorScheme: 'light' })
        await expectAccessible(page)
        await page.setViewportSize({ width, height: 700 })
        await page.emulateMedia({ colorScheme: theme })
      }
      await page.goto(daemon.url)
      await page.getByRole('heading', { name: /Talk to/ }).waitFor()
      await check()
      await answerInMarkdown(page)
      await ask(page, 'Show all you can')
      await page.getByRole('button', { name: 'Try again' }).waitFor()
      await check()
      await page.getByRole('button', { name: 'Edit your message' }).click()
      await check()
      await page.getByRole('button', { name: /^Parameters/ }).click()
      await check()
      await page.keyboard.press('Escape')
      if (width < 1024) await page.getByRole('button', { name: 'Chats' }).click()
      await page.getByRole('button', { name: /^Actions for/ }).click()
      await check()
      await page.getByRole('button', { name: 'Delete', exact: true }).click()
      await check()
      expect(takeProblems()).toEqual([])
    },
  )

  test.each([
    ['has no database', 'undefined'],
    ['denies access to one', "{ open() { throw new DOMException('denied', 'SecurityError') } }"],
  ])(
    'in a browser that %s, chats work without a history, and the page says so',
    async (_, given) => {
      await using visitor = await browser.newVisitor()
      const { page, takeProblems } = visitor
      await page.addInitScript(`Object.defineProperty(window, 'indexedDB', { value: ${given} })`)
      await page.goto(daemon.url)
      await page.getByRole('alert').filter({ hasText: 'Chat history is unavailable: ' }).waitFor()
      await ask(page, 'What is the capital of France?')
      await waitForAnswer(page, /Paris/)
      expect(takeProblems()).toEqual([])
    },
  )

  test('if the browser has no space for a chat, the chat stays on the page, which shows an error', async () => {
    await using visitor = await browser.newVisitor()
    const { page, context, takeProblems } = visitor
    await page.goto(daemon.url)
    await page.getByRole('heading', { name: /Talk to/ }).waitFor()
    const { origin } = new URL(daemon.url)
    const devtools = await context.newCDPSession(page)
    await devtools.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 1 })
    await ask(page, 'What is the capital of France?')
    await waitForAnswer(page, /Paris/)
    await page.getByRole('alert').filter({ hasText: 'This chat could not be saved: ' }).waitFor()
    expect(takeProblems()).toEqual([])
  })

  async function ask(page: Page, question: string) {
    await page.getByLabel('Message', { exact: true }).fill(question)
    // The button is enabled after the page has loaded the list of models.
    await page.getByRole('button', { name: 'Send' }).click({ trial: true })
    await page.getByLabel('Message', { exact: true }).press('Enter')
  }

  const waitForAnswer = (page: Page, text: RegExp) =>
    page
      .locator('main li', { has: page.getByRole('button', { name: 'Try again' }) })
      .filter({ hasText: text })
      .waitFor()

  /** Waits until the browser has saved an answer, which happens after the page shows it. */
  async function answerIsKept(page: Page, text = /./) {
    const lastMessage = `new Promise((resolve) => {
      indexedDB.open('shoal-chat').onsuccess = ({ target: { result } }) => {
        const store = result.transaction('conversations').objectStore('conversations')
        store.get(location.hash.slice(1)).onsuccess = ({ target }) => {
          result.close()
          resolve(JSON.stringify(target.result?.messages.at(-1)))
        }
      }
    })`
    const kept = expect.poll(() => page.evaluate(lastMessage))
    await kept.toMatch(new RegExp(`"role":"assistant".*${text.source}`))
  }

  const readStatus = (page: Page) => page.locator('p[role=status].sr-only').last().innerText()

  const chatLinks = (page: Page) =>
    page.getByRole('navigation', { name: 'Chats' }).getByRole('link')

  async function runningOn({ url }: TestDaemon): Promise<{ requests: number }> {
    const { models } = (await (await fetch(`${url}/api/ps`)).json()) as {
      models: { requests: number }[]
    }
    return models[0] ?? { requests: 0 }
  }

  /** Replaces the model's answer with one that contains every kind of Markdown. */
  async function answerInMarkdown(page: Page) {
    const events = [
      { choices: [{ delta: { reasoning_content: 'Everything, then.' } }] },
      { choices: [{ delta: { content: everything } }] },
      { choices: [{ delta: {}, finish_reason: 'length' }] },
    ]
    const data = [...events.map((event) => JSON.stringify(event)), '[DONE]']
    await page.route('**/v1/chat/completions', (route) =>
      route.fulfill({
        contentType: 'text/event-stream',
        body: data.map((one) => `data: ${one}\n\n`).join(''),
      }),
    )
  }
})

const everything = `# One

Some **bold**, *slanted*, ~~gone~~ and \`code\`; a [link](https://example.com), <script>alert(1)</script>
and an image ![of a fish](https://example.com/fish.png).

## Two

1. first
2. second
   - nested

> quoted

| name | size | a long heading of a column |
|---|---|---|
| one | 1 GB | ${'x'.repeat(60)} |

\`\`\`ts
const line = '${'long '.repeat(60)}'
\`\`\`

${'averylongwordwithoutanend'.repeat(10)}
`
