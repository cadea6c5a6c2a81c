import { expect, onTestFinished, test } from 'vitest'
import { cardRenderer } from './card-renderer.ts'

const options = { images: false, names: ['tide'] }

/** Starts a renderer for one test, and collects the errors that it logs. */
function start(limits?: { renderTimeoutMs: number; heapMb: number }) {
  const problems: string[] = []
  const warn = ({ err }: { err: Error }) => problems.push(err.message)
  const cards = cardRenderer({ log: { warn } as never, ...(limits && { limits }) })
  onTestFinished(() => cards.close())
  return { cards, problems }
}

/** Returns the longest time, in milliseconds, for which this thread was blocked during `work`. */
async function longestPause(work: Promise<unknown>): Promise<number> {
  let longest = 0
  let before = performance.now()
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - before)
    before = performance.now()
  }, 5)
  await work
  clearInterval(timer)
  return longest
}

test('a card is rendered and cached', async () => {
  const { cards } = start()
  expect(await cards.render('*Tide*', options)).toBe('<p><em>Tide</em></p>')
  const [first, second] = await Promise.all([
    cards.render('![a](https://a.example/b.png)', options),
    cards.render('![a](https://a.example/b.png)', { ...options, images: true }),
  ])
  expect(first).not.toContain('<img')
  expect(second).toContain('<img')
  await cards.close() // a closed renderer no longer renders, so the HTML must come from the cache
  expect(await cards.render('*Tide*', options)).toBe('<p><em>Tide</em></p>')
})

test('a card that takes too long to render is shown as plain text, and the next one is rendered', async () => {
  const { cards, problems } = start({ renderTimeoutMs: 1_000, heapMb: 256 })
  const slow = '*a_ '.repeat(100_000)
  const [first, second] = await Promise.all([
    cards.render(`---\nlicense: mit\n---\n<b>${slow}`, options),
    cards.render('# Tide', { ...options, names: [] }),
  ])
  expect(first).toMatch(/^<pre class="card-plain" tabindex="0">\n&lt;b&gt;\*a_ \*a_/)
  expect(second).toContain('<h3 id="card-tide">')
  expect(problems).toEqual(['timed out after 1000 ms'])
})

test('a card that needs too much memory crashes only the card process', async () => {
  const { cards, problems } = start({ renderTimeoutMs: 20_000, heapMb: 32 })
  const reference = `[a]: <https://a.example/${'y'.repeat(5_000)}>\n\n${'[a]'.repeat(24_000)}`
  expect(await cards.render(reference, options)).toMatch(/^<pre class="card-plain"/)
  expect(problems).toEqual([expect.stringMatching(/^the card process .*SIG/)])
  expect(await cards.render('*Tide*', options)).toBe('<p><em>Tide</em></p>')
})

test.each([
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
])('5 MB of %s become plain text within seconds, and block no other requests', async (_, part) => {
  const { cards } = start({ renderTimeoutMs: 1_000, heapMb: 256 })
  const markdown = part.repeat(Math.ceil((5 * 1024 * 1024) / part.length))
  for (const card of [markdown, markdown.slice(0, 512 * 1024)]) {
    const rendering = cards.render(card, options)
    expect(await longestPause(rendering)).toBeLessThan(1_000)
    expect(await rendering).toMatch(/^<pre class="card-plain"/)
  }
})

test('if too many cards are waiting, further ones are shown as plain text, and rendered on a later request', async () => {
  const { cards, problems } = start()
  const all = Array.from({ length: 40 }, (_, index) => cards.render(`*${index}*`, options))
  const htmls = await Promise.all(all)
  expect(htmls.filter((html) => html.includes('<em>'))).toHaveLength(32)
  expect(await cards.render('*39*', options)).toBe('<p><em>39</em></p>')
  expect(problems).toEqual([])
})
