import { expect, test } from 'vitest'
import { DaemonError } from './errors.ts'
import { readAnswer } from './read-answer.ts'

const says = (content: string) => ({ choices: [{ index: 0, delta: { content } }] })
const thinks = (text: string) => ({ choices: [{ index: 0, delta: { reasoning_content: text } }] })
const ends = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 }
const counts = { choices: [], usage }
const done = 'data: [DONE]\n\n'
const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`

/** Returns the items that a response yields, and the error that ends it. */
async function read(events: (object | string)[], breaks?: Error) {
  async function* body() {
    for (const one of events) {
      yield new TextEncoder().encode(typeof one === 'string' ? one : event(one))
    }
    if (breaks) throw breaks
  }
  const steps: object[] = []
  try {
    for await (const step of readAnswer(body())) steps.push(step)
  } catch (error) {
    return { steps, error }
  }
  return { steps, error: undefined }
}

const hello = { content: 'Hel', reasoning: '' }
const end = { finishReason: 'stop', usage }

test('the reasoning, the text and the end of a response are yielded', async () => {
  expect(await read([thinks('hm'), says('Hel'), ends, counts, done])).toEqual({
    steps: [{ content: '', reasoning: 'hm' }, hello, end],
    error: undefined,
  })
})

test('everything after [DONE] is ignored', async () => {
  const { steps } = await read([says('Hel'), ends, counts, done, says('more')])
  expect(steps).toEqual([hello, end])
})

test('parts without text, keep-alive comments and unknown events are skipped', async () => {
  const role = { choices: [{ delta: { role: 'assistant', content: '' } }] }
  const others = [': keep-alive\n\n', 'event: ping\ndata: x\n\n', event(null), event({ other: 1 })]
  const { steps } = await read([
    role,
    ...others,
    { ...says('Hel'), error: null },
    ends,
    counts,
    done,
  ])
  expect(steps).toEqual([hello, end])
})

test.each([
  ['OpenAI', { error: { message: 'the model was lost', code: 'model_lost' } }],
  ['Ollama', { error: 'the model was lost', code: 'model_lost' }],
])('an error event in %s’s format ends the response with the message', async (_, failure) => {
  const { steps, error } = await read([says('Hel'), failure, done])
  expect(steps).toEqual([hello])
  expect(error).toBeInstanceOf(DaemonError)
  expect(error).toMatchObject({
    message: 'the model was lost',
    details: { status: 500, reason: 'model_lost' },
  })
})

const reset = new Error('reset')

test.each([
  ['the end of the stream', [says('Hel')], undefined, 'the response was cut off'],
  ['an incomplete event at the end', [says('Hel'), 'data: {"cho'], undefined, 'cut off'],
  ['the [DONE] event', [says('Hel'), done], undefined, 'cut off'],
  ['a connection reset', [says('Hel')], reset, 'reset'],
  ['an event that is not JSON', [says('Hel'), 'data: <html>\n\n'], undefined, 'JSON'],
])('%s before the finish reason is an error', async (_, events, breaks, message) => {
  const { steps, error } = await read(events, breaks)
  expect(steps).toEqual([hello])
  expect(error).toHaveProperty('message', expect.stringContaining(message))
})

test.each([
  ['the end of the stream', undefined],
  ['a connection reset', reset],
])('%s after the finish reason loses only the token counts', async (_, breaks) => {
  expect(await read([says('Hel'), ends], breaks)).toEqual({
    steps: [hello, { finishReason: 'stop', usage: undefined }],
    error: undefined,
  })
})
