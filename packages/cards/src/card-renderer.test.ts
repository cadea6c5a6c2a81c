import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { slowTest } from '../../../testing/slow-test.ts'
import { cardRenderer } from './card-renderer.ts'
import type { CardOptions } from './shape-card.ts'
import { type CardLimits, CardTimeoutError, startCardProcess } from './start-card-process.ts'

const options = { images: false, names: ['tide'] }
const ample: CardLimits = { maxCpuMs: 60_000, maxHeapMb: 256, maxElapsedMs: 600_000 }
/** Longer than any test, so that a busy machine does not cause cards to be shown as plain text. */
const patiently = 600_000

/** Starts a renderer for one test. */
function start(limits: Partial<CardLimits> = {}, maxWaitMs = patiently) {
  const started = open(limits, maxWaitMs)
  onTestFinished(() => started.cards.close())
  return started
}

/** Opens a renderer, and collects the errors that it logs. */
function open(limits: Partial<CardLimits>, maxWaitMs = patiently) {
  const problems: string[] = []
  const warn = ({ err }: { err: Error }) => problems.push(err.message)
  const log = { warn } as never
  const cards = cardRenderer({ log, limits: { ...ample, ...limits }, maxWaitMs })
  const render = async (markdown: string, own: CardOptions = options) =>
    (await cards.render(markdown, own)).html
  return { cards, render, problems }
}

const note = (state: string) => new RegExp(`^<p class="card-note" data-state="${state}"`)

/** Returns how much processor time this thread uses during `work`, in milliseconds. */
async function cpuMs(work: Promise<unknown>): Promise<number> {
  const before = process.threadCpuUsage()
  await work
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

test('a card is rendered and cached', async () => {
  const { cards, render } = start()
  expect(await cards.render('*Tide*', options)).toEqual({
    html: '<p><em>Tide</em></p>',
    retryAfterSeconds: undefined,
  })
  const [first, second] = await Promise.all([
    render('![a](https://a.example/b.png)'),
    render('![a](https://a.example/b.png)', { ...options, images: true }),
  ])
  expect(first).not.toContain('<img')
  expect(second).toContain('<img')
  await cards.close() // a closed renderer no longer renders, so the HTML must come from the cache
  expect(await render('*Tide*')).toBe('<p><em>Tide</em></p>')
})

slowTest(
  'a card that takes too much processor time is shown as plain text, and the next one is rendered',
  async () => {
    const { cards, render, problems } = start({ maxCpuMs: 500 })
    const slow = `---\nlicense: mit\n---\n<b>${'[a]('.repeat(30_000)}` // takes minutes, but little memory
    const [first, second] = await Promise.all([
      cards.render(slow, options),
      render('# Tide', { ...options, names: [] }),
    ])
    expect(first.html).toMatch(note('failed'))
    expect(first.html).toContain('<pre class="card-plain" tabindex="0">\n&lt;b&gt;[a]([a](')
    expect(first.retryAfterSeconds).toBe(600)
    expect(second).toContain('<h3 id="card-tide"')
    expect(problems).toEqual(['takes more than 0.5 s of processor time'])
    expect(await cards.render(slow, options)).toEqual(first)
    expect(problems).toHaveLength(1) // it was not rendered again
  },
)

test('a card that is not rendered soon is shown as plain text, and is rendered in the meantime', async () => {
  const { cards, problems } = start({}, 0)
  const first = await cards.render('*Tide*', options)
  expect(first.html).toMatch(note('busy'))
  expect(first.html).toContain('\n*Tide*</pre>')
  expect(first.retryAfterSeconds).toBe(5)
  await expect
    .poll(() => cards.render('*Tide*', options), { timeout: 60_000 })
    .toEqual({ html: '<p><em>Tide</em></p>', retryAfterSeconds: undefined })
  expect(problems).toEqual([])
})

test('time during which the card process cannot use the processor does not count', async () => {
  const child = startCardProcess({ ...ample, maxCpuMs: 200 })
  onTestFinished(() => child.end())
  await child.render({ markdown: 'a', options }) // loads the modules
  process.kill(Number(child.pid), 'SIGSTOP')
  const rendering = child.render({ markdown: '*Tide*', options })
  await new Promise((resolve) => setTimeout(resolve, 1_000)) // five times the limit
  process.kill(Number(child.pid), 'SIGCONT')
  expect(await rendering).toBe('<p><em>Tide</em></p>')
})

test('a card process that does not respond is replaced, and the card is rendered on a later request', async () => {
  const child = startCardProcess({ ...ample, maxElapsedMs: 100 })
  onTestFinished(() => child.end())
  process.kill(Number(child.pid), 'SIGSTOP')
  const error = await child.render({ markdown: 'a', options }).catch((caught) => caught)
  expect(error).toBeInstanceOf(CardTimeoutError)
  expect(child.hasEnded).toBe(true)

  const { cards, problems } = start({ maxElapsedMs: 0 })
  const results = [await cards.render('*a*', options), await cards.render('*a*', options)]
  for (const { html, retryAfterSeconds } of results) {
    expect([html, retryAfterSeconds]).toEqual([expect.stringMatching(note('busy')), 5])
  }
  const problem = 'the card was not rendered within 0 ms'
  expect(problems).toEqual([problem, problem])
})

test('a card that cannot be rendered stays plain text', async () => {
  const { cards, problems } = start()
  const nested = await cards.render('>'.repeat(1_000), options)
  expect(nested.html).toMatch(note('failed'))
  expect(nested.retryAfterSeconds).toBeUndefined()
  expect(problems).toEqual(['the Markdown is nested too deeply'])
})

slowTest('a card that needs too much memory crashes only the card process', async () => {
  const { render, problems } = start({ maxHeapMb: 32 })
  const reference = `[a]: <https://a.example/${'y'.repeat(5_000)}>\n\n${'[a]'.repeat(24_000)}`
  expect(await render(reference)).toMatch(note('failed'))
  expect(problems).toEqual([expect.stringMatching(/^the card process .*SIG|32 MiB of memory/)])
  expect(await render('*Tide*')).toBe('<p><em>Tide</em></p>')
})

describe('5 MB of the same Markdown', () => {
  const { cards, render } = open({ maxCpuMs: 250 })
  afterAll(() => cards.close())

  slowTest.each([
    ['quotations', '> '],
    ['lists', '- '],
    ['numbered lists', '1. '],
    ['brackets', '['],
    ['images', '!['],
    ['elements', '<div>'],
    ['formatting elements', '<b><p>'],
    ['tables', '<table><tr><td>'],
    ['comments', 'x <!--'],
    ['emphasis', '*a_ '],
    ['unclosed formulas', '\\[a\n'],
  ])('%s become plain text, and hardly use the thread that serves requests', async (_, part) => {
    const markdown = part.repeat(Math.ceil((5 * 1024 * 1024) / part.length))
    for (const card of [markdown, markdown.slice(0, 512 * 1024)]) {
      const rendering = render(card)
      expect(await cpuMs(rendering)).toBeLessThan(1_000)
      expect(await rendering).toMatch(note('failed'))
    }
  })
})

test('if too many cards are waiting, further ones are shown as plain text, and rendered on a later request', async () => {
  const { render, problems } = start()
  const all = Array.from({ length: 40 }, (_, index) => render(`*${index}*`))
  const htmls = await Promise.all(all)
  expect(htmls.filter((html) => html.includes('<em>'))).toHaveLength(32)
  expect(htmls.filter((html) => note('busy').test(html))).toHaveLength(8)
  expect(await render('*39*')).toBe('<p><em>39</em></p>')
  expect(problems).toEqual([])
})
