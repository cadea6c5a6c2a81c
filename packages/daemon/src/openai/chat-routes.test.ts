import { expect, test } from 'vitest'
import type { Generation, Runtime } from '../runtime/runtime.ts'
import { postJson } from '../testing/post-json.ts'
import { thoughtful } from '../testing/scripted-openai.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { useTestDaemon } from '../testing/test-daemon.ts'

type Ask = { url: string; signal?: AbortSignal; body?: object }

function ask({ url, body = {}, ...init }: Ask) {
  const request = { model: 'shoal-nano', messages: [{ role: 'user', content: 'Hi' }], ...body }
  return postJson(`${url}/v1/chat/completions`, request, init)
}

async function readEvents(response: Response) {
  const lines = (await response.text()).trimEnd().split('\n\n')
  return lines.map((line) => line.slice('data: '.length))
}

test('reasoning and tool calls have their own members in a response', async () => {
  const { url } = await useTestDaemon({}, scriptedRuntime({ pieces: thoughtful }))
  const tools = [{ type: 'function', function: { name: 'a' } }]
  const answer = await (await ask({ url, body: { tools } })).json()
  expect(answer).toMatchObject({
    choices: [
      {
        message: {
          content: 'I look.',
          reasoning_content: 'Hm.',
          tool_calls: [
            { type: 'function', function: { name: 'a', arguments: '{"x":1}' } },
            { type: 'function', function: { name: 'b', arguments: '{"y":2}' } },
          ],
        },
        finish_reason: 'tool_calls',
      },
    ],
    usage: { completion_tokens: 7, completion_tokens_details: { reasoning_tokens: 2 } },
  })
})

test('in a stream, tool calls have increasing indexes', async () => {
  const { url } = await useTestDaemon({}, scriptedRuntime({ pieces: thoughtful }))
  const events = await readEvents(await ask({ url, body: { stream: true } }))
  const deltas = events.slice(0, -1).map((event) => JSON.parse(event).choices[0].delta)
  const id = expect.stringMatching(/^call_/)
  const type = 'function'
  expect(deltas).toEqual([
    { role: 'assistant', content: '' },
    { reasoning_content: 'Hm' },
    { reasoning_content: '.' },
    { content: 'I look.' },
    { tool_calls: [{ index: 0, id, type, function: { name: 'a', arguments: '' } }] },
    { tool_calls: [{ index: 0, function: { arguments: '{"x":1}' } }] },
    { tool_calls: [{ index: 1, id, type, function: { name: 'b', arguments: '' } }] },
    { tool_calls: [{ index: 1, function: { arguments: '{"y":' } }] },
    { tool_calls: [{ index: 1, function: { arguments: '2}' } }] },
    { content: '' },
    {},
  ])
})

test('if a model crashes, the stream ends with an error, and the next request gets a new process', async () => {
  let lives = 0
  const { url } = await useTestDaemon({}, async (options) => {
    lives += 1
    return scriptedRuntime(lives === 1 ? { diesAfter: 2 } : {})(options)
  })
  const events = await readEvents(await ask({ url, body: { stream: true } }))
  expect(JSON.parse(events.at(-1) ?? '')).toEqual({
    error: {
      message: "the model's process was killed by SIGSEGV",
      type: 'server_error',
      param: null,
      code: 'model_lost',
    },
  })
  expect((await ask({ url })).status).toBe(200)
  expect(lives).toBe(2)
})

test('a full queue causes an error with Retry-After', async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  const settings = { slots: 2, queueLength: 3 }
  const { url } = await useTestDaemon(settings, scriptedRuntime({ pace: () => gate }))
  const asked = Array.from({ length: 5 }, () => ask({ url }))
  const metrics = async () => (await fetch(`${url}/metrics`)).text()
  await expect
    .poll(metrics)
    .toMatch(
      /shoal_daemon_model_requests\{model="[^"]+"\} 5.*shoal_daemon_queued_requests\{model="[^"]+"\} 3/s,
    )
  const refused = await ask({ url })
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await refused.json()).toMatchObject({ error: { code: 'queue_full' } })
  open()
  const statuses = (await Promise.all(asked)).map(({ status }) => status)
  expect(statuses).toEqual([200, 200, 200, 200, 200])
})

test('a model that cannot fit into memory is rejected before it is loaded', async () => {
  let isLoaded = false
  const { url } = await useTestDaemon({ memoryBytes: 50e6 }, async (options) => {
    isLoaded = true
    return scriptedRuntime()(options)
  })
  const refused = await ask({ url })
  expect(refused.status).toBe(503)
  expect(await refused.json()).toMatchObject({
    detail: expect.stringMatching(/^model shoal-nano needs \d\d\d MB .* at most 50\.0 MB$/),
  })
  expect(isLoaded).toBe(false)
})

/** Runs a daemon with a scripted model, and records the generations requested from the model. */
async function useRecorded() {
  const asked: Generation[] = []
  const { url } = await useTestDaemon({}, async (options) => {
    const runtime = await scriptedRuntime()(options)
    const generate: Runtime['generate'] = (generation, signal) => {
      asked.push(generation)
      return runtime.generate(generation, signal)
    }
    return { ...runtime, generate }
  })
  return { url, asked }
}

test('a parameter that is null is treated as absent', async () => {
  const { url, asked } = await useRecorded()
  const body = {
    messages: [{ role: 'user', content: 'Hi', name: null, tool_call_id: null }],
    tools: [{ type: 'function', function: { name: 'a', description: null, parameters: null } }],
  }
  expect((await ask({ url, body })).status).toBe(200)
  expect(asked[0]?.prompt).toMatchObject({
    chat: {
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [{ type: 'function', function: { name: 'a' } }],
    },
  })
  expect(JSON.stringify(asked)).not.toContain('null')
})

test('the model gets the refusal in an earlier answer as text, and gets only the allowed tools', async () => {
  const { url, asked } = await useRecorded()
  const named = (name: string) => ({ type: 'function', function: { name } })
  const choose = (mode: string, name: string) => ({
    type: 'allowed_tools',
    allowed_tools: { mode, tools: [named(name)] },
  })
  const body = {
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
      { role: 'user', content: 'Please' },
      { role: 'assistant', content: null, refusal: 'Never.' },
      { role: 'user', content: 'Oh' },
    ],
    tools: [named('a'), named('b')],
    tool_choice: choose('required', 'b'),
    stop: ['1', '2', '3', '4', '5'],
  }
  expect((await ask({ url, body })).status).toBe(200)
  expect(asked[0]).toMatchObject({
    stop: body.stop,
    prompt: {
      chat: {
        messages: [
          {},
          { role: 'assistant', content: 'No.' },
          {},
          { role: 'assistant', content: 'Never.' },
          {},
        ],
        tools: [named('b')],
        toolChoice: 'required',
      },
    },
  })
  const unknown = await ask({ url, body: { ...body, tool_choice: choose('auto', 'c') } })
  expect(unknown.status).toBe(400)
  expect(await unknown.json()).toMatchObject({ error: { param: 'tool_choice' } })
})

test('each answer has its own random seed, unless the request has a seed', async () => {
  const { url, asked } = await useRecorded()
  for (const seed of [undefined, null, -1]) await ask({ url, body: { n: 3, seed } })
  const drawn = asked.splice(0).map(({ sampling }) => sampling.seed)
  expect(new Set(drawn).size).toBe(9)
  await ask({ url, body: { n: 3, seed: 7 } })
  expect(asked.splice(0).map(({ sampling }) => sampling.seed)).toEqual([7, 8, 9])
  await ask({ url, body: { n: 2, seed: 2 ** 60 } })
  expect(new Set(asked.map(({ sampling }) => sampling.seed)).size).toBe(2)
})

test('a final assistant message is continued, unless the request forbids it or the message has calls', async () => {
  const { url, asked } = await useRecorded()
  const call = { id: '1', type: 'function', function: { name: 'a', arguments: {} } }
  const assistant = { role: 'assistant', content: 'Once' }
  for (const body of [
    { messages: [assistant] },
    { messages: [assistant], continue_final_message: false },
    { messages: [{ ...assistant, tool_calls: [call] }] },
  ]) {
    expect((await ask({ url, body })).status).toBe(200)
  }
  const continued = asked.map(({ prompt }) => 'chat' in prompt && prompt.chat.isContinued)
  expect(continued).toEqual([true, false, false])
})

test('values that only other servers allow are accepted', async () => {
  const { url, asked } = await useRecorded()
  const call = { id: '1', type: 'function', function: { name: 'a', arguments: { x: 1 } } }
  const body = {
    max_tokens: -1,
    top_k: -1,
    thinking_budget_tokens: 9,
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: null, reasoning: 'Hm.', tool_calls: [call] },
      { role: 'tool', content: '2', tool_call_id: '1' },
    ],
    tools: Array.from({ length: 1_000 }, (_, index) => ({
      type: 'function',
      function: { name: `f${index}` },
    })),
  }
  expect((await ask({ url, body })).status).toBe(200)
  expect(asked[0]).toMatchObject({ sampling: { topK: 0 }, reasoningBudget: 9 })
  expect(asked[0]?.maxTokens).toBeUndefined()
  expect(asked[0]?.prompt).toMatchObject({
    chat: {
      messages: [
        {},
        { reasoning_content: 'Hm.', tool_calls: [{ function: { arguments: '{"x":1}' } }] },
        {},
      ],
    },
  })
})
