import type { ThreadLimits } from '@shoal/threads'
import { expect, test } from 'vitest'
import { renderInThread } from './render-in-thread.ts'

const chat = (content: string) => ({
  messages: [{ role: 'user', content }],
  tools: [],
  variables: {},
})

const open = (source: string, limits: Partial<ThreadLimits> = {}) =>
  renderInThread({ source, bos: '<s>', eos: '' }, { maxCpuMs: 10_000, maxHeapMb: 512, ...limits })

test('chats are rendered one after another, and an error affects only its own chat', async () => {
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

test('with an invalid template, rendering fails for every chat', async () => {
  const render = open('{{ messages[0].content }')
  await expect(render(chat('a'))).rejects.toThrow()
  await expect(render(chat('a'))).rejects.toThrow()
})

test('a template that takes too much time is stopped, even if it is still being parsed', async () => {
  const slow = `{{ 1 }}${' '.repeat(3_000_000)}{{ 1 }}` // the library takes quadratic time to parse whitespace
  const render = open(slow, { maxCpuMs: 100 })
  await expect(render(chat('a'))).rejects.toMatchObject({
    code: 'template_limit',
    message: 'it takes more than 0.1 s of processor time',
  })
})

test('a template that takes too much memory is stopped', async () => {
  const source = `{% set a = [] %}{% for i in range(99999) %}{% set _ = a.append({'a': {'b': {}}}) %}{% endfor %}`
  const render = open(source, { maxHeapMb: 16 })
  await expect(render(chat('a'))).rejects.toThrow('it takes more than 16 MiB of memory')
})
