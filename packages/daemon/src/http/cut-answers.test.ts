/** Tests that no API presents a tool call that was cut off as a complete one. */
import { beforeAll, describe, expect, test } from 'vitest'
import type { Piece } from '../runtime/runtime.ts'
import { postJson } from '../testing/post-json.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { startTestDaemon, type TestDaemon, useTestDaemon } from '../testing/test-daemon.ts'

const messages = [{ role: 'user', content: 'Hello' }]
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const named = { name: 'look', description: 'looks', parameters }
const chatTools = [{ type: 'function', function: named }]

async function post<T>(url: string, path: string, body: object) {
  const response = await postJson(`${url}${path}`, { model: 'shoal-tiny', stream: false, ...body })
  expect(response.status).toBe(200)
  return (await response.json()) as T
}

type ChatAnswer = {
  choices: [
    { finish_reason: string; message: { tool_calls: [{ function: { arguments: string } }] } },
  ]
}
type Response = { status: string; incomplete_details: object; output: [{ arguments: string }] }
type Message = { stop_reason: string; content: object[] }
type OllamaAnswer = { done_reason: string; message: { tool_calls?: object[] } }

async function askAll(url: string, max: number) {
  const anthropicTools = [{ name: 'look', input_schema: parameters }]
  const responseTools = [{ type: 'function', ...named }]
  return {
    chat: await post<ChatAnswer>(url, '/v1/chat/completions', {
      ...{ messages, tools: chatTools, tool_choice: 'required', max_tokens: max },
    }),
    responses: await post<Response>(url, '/v1/responses', {
      ...{ input: messages, tools: responseTools, tool_choice: 'required', max_output_tokens: max },
    }),
    messages: await post<Message>(url, '/v1/messages', {
      ...{ messages, tools: anthropicTools, tool_choice: { type: 'any' }, max_tokens: max },
    }),
    ollama: await post<OllamaAnswer>(url, '/api/chat', {
      ...{ messages, tools: chatTools, options: { num_predict: max } },
    }),
  }
}

const cut = {
  chat: { choices: [{ finish_reason: 'length' }] },
  responses: { status: 'incomplete', output: [{ type: 'function_call', status: 'incomplete' }] },
  messages: { stop_reason: 'max_tokens', content: [] },
}

describe('a call that is cut off by the maximum number of tokens is not presented as complete', () => {
  const pieces: Piece[] = [
    { toolCall: { name: 'look', arguments: '' } },
    { argumentsDelta: '{"city":' },
    { argumentsDelta: '"Oslo"}' },
  ]
  test('with a scripted model', async () => {
    const { url } = await useTestDaemon({}, scriptedRuntime({ pieces }))
    const answers = await askAll(url, 2)
    expect(answers).toMatchObject(cut)
    expect(answers.ollama.message.tool_calls).toBeUndefined()
    expect(answers.ollama.done_reason).toBe('length')
    expect(await askAll(url, 3)).toMatchObject({
      chat: { choices: [{ finish_reason: 'tool_calls' }] },
      responses: { status: 'completed', output: [{ status: 'completed' }] },
      messages: { stop_reason: 'tool_use', content: [{ input: { city: 'Oslo' } }] },
      ollama: { message: { tool_calls: [{ function: { arguments: { city: 'Oslo' } } }] } },
    })
  })

  test('even if another call follows it', async () => {
    const another = { toolCall: { name: 'look', arguments: '{"city":"Oslo"}' } }
    const { url } = await useTestDaemon(
      {},
      scriptedRuntime({ pieces: [...pieces.slice(0, 2), another] }),
    )
    expect(await askAll(url, 100)).toMatchObject({
      chat: { choices: [{ finish_reason: 'length' }] },
      responses: { status: 'incomplete', output: [{ status: 'incomplete' }, {}] },
      messages: { stop_reason: 'max_tokens', content: [{ input: { city: 'Oslo' } }] },
      ollama: { done_reason: 'length', message: { tool_calls: [{}] } },
    })
  })
})

describe('with a real model', () => {
  let daemon: TestDaemon
  beforeAll(async () => {
    daemon = await startTestDaemon()
    return () => daemon.close()
  })

  test('a call that is cut off is not presented as complete', async () => {
    for (const max of [1, 6, 12]) {
      const { chat, responses, messages } = await askAll(daemon.url, max)
      const [choice] = chat.choices
      if (choice.finish_reason === 'tool_calls') {
        JSON.parse(choice.message.tool_calls[0].function.arguments)
      } else expect(choice.finish_reason).toBe('length')
      if (responses.status === 'completed') JSON.parse(responses.output[0].arguments)
      else expect(responses.incomplete_details).toEqual({ reason: 'max_output_tokens' })
      if (messages.stop_reason === 'tool_use') expect(messages.content).toHaveLength(1)
      else expect(messages).toMatchObject(cut.messages)
    }
  })

  test('a stop string does not cut off a forced call', async () => {
    const city = { enum: ['Oslo'] }
    const tool = { name: 'look', parameters: { ...parameters, properties: { city } } }
    const answer = await post<ChatAnswer>(daemon.url, '/v1/chat/completions', {
      ...{ messages, tools: [{ type: 'function', function: tool }], tool_choice: 'required' },
      stop: ['":', 'Oslo'],
    })
    const [{ finish_reason, message }] = answer.choices
    expect(finish_reason).toBe('tool_calls')
    expect(JSON.parse(message.tool_calls[0].function.arguments)).toEqual({ city: 'Oslo' })
  })
})
