import { DaemonError, DaemonGoneError } from '@shoal/protocol/inference-client'
import { expect, test } from 'vitest'
import {
  type Answer,
  newConversation,
  thoughtAndSaid,
  titleFrom,
  toChatRequest,
  upTo,
} from './conversation.ts'
import { patiently } from './patiently.ts'
import { spoken } from './spoken.ts'
import { toChatFailure } from './to-chat-failure.ts'

const question = (content: string) => ({ id: content, role: 'user' as const, content })
const answer = (content: string, some: Partial<Answer> = {}): Answer => ({
  id: `to ${content}`,
  role: 'assistant',
  model: 'm',
  content,
  reasoning: '',
  ending: 'whole',
  ...some,
})

test('a chat request contains the system prompt, the messages and the parameters that were set', () => {
  const conversation = {
    ...newConversation('m', { system: 'Be short.', temperature: 0, maxTokens: 5 }),
    messages: [question('a'), answer('b', { reasoning: 'long thought' }), question('c')],
  }
  expect(toChatRequest(conversation, 'm')).toEqual({
    model: 'm',
    messages: [
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b' },
      { role: 'user', content: 'c' },
    ],
    temperature: 0,
    max_tokens: 5,
  })
})

test('consecutive questions without an answer between them are merged, so that roles alternate', () => {
  const messages = [question('a'), answer('', { ending: 'failed' }), question('b')]
  expect(toChatRequest({ ...newConversation(), messages }, 'm').messages).toEqual([
    { role: 'user', content: 'a\n\nb' },
  ])
})

test('reasoning is separated from the answer, even if the daemon has not separated it', () => {
  const apart = (content: string, reasoning = '') => thoughtAndSaid({ content, reasoning })
  expect(apart('b', 'a')).toEqual({ thought: 'a', said: 'b' })
  expect(apart('<think>\na\n</think>\n\nb')).toEqual({ thought: 'a', said: 'b' })
  expect(apart('<think>a')).toEqual({ thought: 'a', said: '' })
  expect(apart('a <think>b</think>')).toEqual({ thought: '', said: 'a <think>b</think>' })
})

test('the title of a chat is its first question, shortened at a word boundary if there is one', () => {
  expect(titleFrom('  Why\nis the sea salty? ')).toBe('Why is the sea salty?')
  expect(titleFrom('word '.repeat(20))).toBe(`${'word '.repeat(12).trim()}…`)
  expect(titleFrom('x'.repeat(100))).toBe(`${'x'.repeat(60)}…`)
})

test('editing a question keeps only the messages before it', () => {
  const messages = [question('a'), answer('b'), question('c'), answer('d')]
  expect(upTo(messages, 'c')).toEqual(messages.slice(0, 2))
})

test('a short answer is announced in full, and a long one by its number of words', () => {
  expect(spoken(answer('Paris.'))).toBe('Paris.')
  expect(spoken(answer('word '.repeat(200).trim()))).toBe('Answer complete: 200 words.')
  expect(spoken(answer('word '.repeat(200), { ending: 'cut' }))).toMatch(/^Answer cut off: /)
  expect(spoken(answer('half', { ending: 'stopped' }))).toBe('Stopped.')
})

test.each([
  [
    new DaemonError(503, 'it crashed twice', 'crashes_model'),
    'This prompt has crashed the model repeatedly',
    undefined,
  ],
  [
    new DaemonGoneError('http://localhost:11434', false),
    'The daemon is not responding',
    'shoal serve',
  ],
  [
    new DaemonError(400, 'x', 'context_length_exceeded'),
    'This chat exceeds the model’s context length',
    undefined,
  ],
  [
    new DaemonError(404, 'try: shoal pull tide:Q8_0', 'model_not_found'),
    'This model is no longer installed',
    undefined,
  ],
  [new DaemonError(503, 'x', 'model_not_loaded'), 'The model could not be loaded', 'shoal logs'],
  [new DaemonError(500, 'x', null), 'Daemon error', undefined],
])('the message for %s states what happened and what to do', (error, title, command) => {
  const fault = toChatFailure(error)
  expect(fault.title).toBe(title)
  expect(fault.command).toBe(command)
  expect(fault.advice).toMatch(/[.:]$/)
})

test('a missing model can be pulled again', () => {
  const pullFor = (message: string) =>
    toChatFailure(new DaemonError(404, message, 'model_not_found')).pull
  expect(pullFor('try: shoal pull tide:Q8_0')).toBe('tide:Q8_0')
  expect(pullFor('not found')).toBe('shoal-tiny')
})

test('a rejected request is retried after the delay that the daemon specifies', async () => {
  const waits: (number | undefined)[] = []
  let asked = 0
  const parts = patiently({
    async *ask() {
      asked += 1
      if (asked < 3) throw new DaemonError(429, 'full', 'queue_full', 0.01)
      yield { content: 'a', reasoning: '' }
    },
    signal: new AbortController().signal,
    onWait: (until) => waits.push(until),
  })
  const got = []
  for await (const part of parts) got.push(part)
  expect(got).toEqual([{ content: 'a', reasoning: '' }])
  expect(waits).toEqual([expect.any(Number), undefined, expect.any(Number), undefined])
})

test('aborting a request ends the wait before its retry', async () => {
  const abort = new AbortController()
  const parts = patiently({
    // biome-ignore lint/correctness/useYield: it throws before it could yield
    async *ask() {
      throw new DaemonError(429, 'full', 'queue_full', 60)
    },
    signal: abort.signal,
    onWait: () => abort.abort(),
  })
  await expect(parts.next()).rejects.toThrow(/abort/i)
})
