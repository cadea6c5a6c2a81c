/** Tests that OpenAI's official client recognizes the errors of the Responses API. */
import { APIError } from 'openai'
import { expect, test } from 'vitest'
import { collectEvents, connectOpenai } from '../testing/scripted-openai.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { useTestDaemon } from '../testing/test-daemon.ts'

const model = 'shoal-tiny'

test('if a model crashes, the stream ends with response.failed', async () => {
  const { url } = await useTestDaemon({}, scriptedRuntime({ diesAfter: 2 }))
  const stream = await connectOpenai(url).responses.create({ model, input: 'Hi', stream: true })
  const events = await collectEvents(stream)
  expect(events.at(-1)).toMatchObject({
    type: 'response.failed',
    sequence_number: events.length - 1,
    response: {
      status: 'failed',
      error: { code: 'model_lost' },
      output: [{ type: 'message', status: 'incomplete', content: [{ text: 'Hello!' }] }],
    },
  })
})

test.each([
  [404, 'model_not_found', 'model', { model: 'nobody-7b', input: 'Hi' }],
  [422, null, 'input', { model }],
  [422, null, 'input', { model, input: [] }],
  [422, null, 'input.0.role', { model, input: [{ content: 'Hi' }] }],
  [422, null, 'input.0.id', { model, input: [{ type: 'item_reference' }] }],
  [422, null, 'input.0.call_id', { model, input: [{ type: 'function_call_output', output: 'x' }] }],
  [422, null, 'temperature', { model, input: 'Hi', temperature: 3 }],
  [422, null, 'text.format', { model, input: 'Hi', text: { format: { type: 'json_schema' } } }],
  [400, 'unsupported_parameter', 'background', { model, input: 'Hi', background: true }],
  [400, 'unsupported_parameter', 'truncation', { model, input: 'Hi', truncation: 'auto' }],
  [400, 'unsupported_parameter', 'tools.0.type', { model, input: 'Hi', tools: [{ type: 'mcp' }] }],
  [400, 'unsupported_parameter', 'input.0.type', { model, input: [{ type: 'computer_call' }] }],
  [
    400,
    'unsupported_parameter',
    'input.0.content',
    { model, input: [{ role: 'user', content: [{ type: 'input_image' }] }] },
  ],
  [400, null, 'tool_choice', { model, input: 'Hi', tool_choice: 'required' }],
  [
    404,
    'response_not_found',
    'previous_response_id',
    { model, input: 'Hi', previous_response_id: 'x' },
  ],
  [400, 'context_length_exceeded', 'input', { model, input: 'a b '.repeat(900) }],
])(
  'an error with status %i (%s, %s) is recognized by the client',
  async (status, code, param, body) => {
    const { url } = await useTestDaemon({}, scriptedRuntime())
    const failure = await connectOpenai(url)
      .responses.create(body as never)
      .catch((error) => error)
    expect(failure).toBeInstanceOf(APIError)
    expect(failure).toMatchObject({ status, code, param })
  },
)
