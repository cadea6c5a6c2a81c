import { expect, test } from 'vitest'
import { renderHere } from './render-here.ts'

const chat = (content: string, count = 1) => ({
  messages: Array.from({ length: count }, () => ({ role: 'user', content })),
  tools: [],
  variables: {},
})

/** Opens a template whose thread is replaced with a function that always returns `in the thread`. */
const open = (source: string) =>
  renderHere({ source, bos: '<s>', eos: '' }, async () => 'in the thread')

const echo = '{{ bos_token }}{% for message in messages %}{{ message.content }}{% endfor %}'

test('a small chat is rendered without a thread', async () => {
  const render = open(echo)
  expect(await render(chat('hello'))).toBe('<s>hello')
  expect(await render(chat('hello ', 100))).toBe(`<s>${'hello '.repeat(100)}`)
})

test('the errors of a template are thrown', async () => {
  const render = open("{{ raise_exception('refused') }}")
  await expect(render(chat('hello'))).rejects.toThrow('refused')
  await expect(open('{{ messages }')(chat('hello'))).rejects.toThrow()
})

test.each([
  ['a long text', echo, chat('a'.repeat(500_000))],
  ['many messages', echo, chat('hello', 2000)],
  [
    'a large tool',
    echo,
    {
      ...chat('hello'),
      tools: [
        {
          type: 'function' as const,
          function: { name: 'tool', parameters: { enum: Array.from({ length: 5000 }, () => 1) } },
        },
      ],
    },
  ],
  ['a loop', '{% for i in range(99999) %}{{ i }}{% endfor %}', chat('hello')],
  ['a large output', "{{ 'a' * 2000000 }}", chat('hello')],
  ['a large template', `${echo}{# ${'comment '.repeat(10_000)} #}`, chat('hello')],
  ['white space in a template', `${echo}${' '.repeat(1000)}`, chat('hello')],
])('%s is rendered in a thread', async (_, source, large) => {
  expect(await open(source)(large)).toBe('in the thread')
})
