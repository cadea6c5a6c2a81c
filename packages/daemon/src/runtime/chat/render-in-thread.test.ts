import { expect, test } from 'vitest'
import { renderInThread } from './render-in-thread.ts'

const chat = (content: string) => ({
  messages: [{ role: 'user', content }],
  tools: [],
  variables: {},
})

const open = (source: string, limits: Parameters<typeof renderInThread>[1] = {}) =>
  renderInThread({ source, bos: '<s>', eos: '' }, limits)

test('chats are rendered one after another, and an error is the error of its own chat', async () => {
  const render = open(
    "{% if messages[0].content == 'no' %}{{ raise_exception('refused') }}{% endif %}{{ bos_token }}{{ messages[0].content }}",
  )
  const rendered = await Promise.allSettled(['a', 'no', 'b'].map((text) => render(chat(text))))
  expect(rendered).toEqual([
    { status: 'fulfilled', value: '<s>a' },
    { status: 'rejected', reason: expect.objectContaining({ message: 'refused' }) },
    { status: 'fulfilled', value: '<s>b' },
  ])
})

test('an invalid template fails for each chat', async () => {
  const render = open('{{ messages[0].content }')
  await expect(render(chat('a'))).rejects.toThrow()
  await expect(render(chat('a'))).rejects.toThrow()
})

/** The library needs hours to parse this, because it takes quadratic time for white space. */
const slow = `{{ 1 }}${' '.repeat(3_000_000)}{{ 1 }}`

test('a thread that takes too much time is ended, while this thread does other work', async () => {
  const render = open(slow, { maxCpuMs: 100 })
  let isOver = false
  const failed = render(chat('a')).catch((error) => error)
  void failed.then(() => {
    isOver = true
  })
  let turns = 0
  for (; !isOver; turns += 1) await new Promise((resolve) => setImmediate(resolve))
  expect(turns).toBeGreaterThan(10)
  expect(await failed).toMatchObject({
    code: 'template_limit',
    message: 'it takes more than 0.1 s of processor time',
  })
})

test('after a thread was ended, the next chats are rendered in a new one', async () => {
  const source = `{% if messages[0].content == 'all' %}{% for i in range(99999) %}{% for k in range(99999) %}{% endfor %}{% endfor %}{% endif %}ok`
  const render = open(source, { maxCpuMs: 50 })
  const all = ['all', 'a', 'all', 'b'].map((text) => render(chat(text)).catch(({ code }) => code))
  expect(await Promise.all(all)).toEqual(['template_limit', 'ok', 'template_limit', 'ok'])
})

test('a thread that needs too much memory is ended', async () => {
  const source = `{% set a = [] %}{% for i in range(99999) %}{% set _ = a.append({'a': {'b': {}}}) %}{% endfor %}`
  const render = open(source, { maxHeapMb: 16 })
  await expect(render(chat('a'))).rejects.toThrow('it needs more than 16 MiB')
})
