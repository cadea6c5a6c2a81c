/** Tests requests that continue earlier responses, with OpenAI's official client. */
import { expect, test } from 'vitest'
import { messagesOf, thoughtful, useScriptedOpenai } from '../testing/scripted-openai.ts'

const model = 'shoal-tiny'

test('a response can be continued, retrieved and deleted', async () => {
  const { openai, asked } = await useScriptedOpenai(thoughtful)
  const first = await openai.responses.create({ model, input: 'Hi', instructions: 'Be brief' })
  const calls = first.output.flatMap((item) => (item.type === 'function_call' ? item : []))
  const outputs = calls.map(({ call_id }) => ({
    type: 'function_call_output' as const,
    call_id,
    output: 'done',
  }))
  const second = await openai.responses.create({
    model,
    previous_response_id: first.id,
    instructions: 'Be exact',
    input: outputs,
  })
  expect(messagesOf(asked[1])).toEqual([
    { role: 'system', content: 'Be exact' },
    { role: 'user', content: 'Hi' },
    {
      role: 'assistant',
      content: 'I look.',
      reasoning_content: 'Hm.',
      tool_calls: calls.map(({ call_id, name, arguments: args }) => ({
        id: call_id,
        type: 'function',
        function: { name, arguments: args },
      })),
    },
    ...calls.map(({ call_id, name }) => ({
      role: 'tool',
      content: 'done',
      tool_call_id: call_id,
      name,
    })),
  ])
  const { _request_id, output_text, ...kept } = await openai.responses.retrieve(second.id)
  expect(second).toMatchObject(kept)
  await openai.responses.delete(first.id)
  await expect(openai.responses.retrieve(first.id)).rejects.toMatchObject({ status: 404 })
  const third = { model, previous_response_id: second.id, input: 'And?' }
  await openai.responses.create(third)
  expect(messagesOf(asked[2]).filter(({ role }) => role === 'user')).toHaveLength(2)
})

test('a streamed response can be continued as soon as its last event has arrived', async () => {
  const { openai } = await useScriptedOpenai([{ text: 'Hello' }])
  for (let turn = 0; turn < 20; turn += 1) {
    for await (const event of await openai.responses.create({ model, input: 'Hi', stream: true })) {
      if (event.type !== 'response.completed') continue
      const next = { model, input: 'Hi', previous_response_id: event.response.id }
      expect((await openai.responses.create(next)).status).toBe('completed')
    }
  }
})

test('an item of a kept response can be referred to by its ID', async () => {
  const { openai, asked } = await useScriptedOpenai([{ text: 'Hello' }])
  const { output } = await openai.responses.create({ model, input: 'Hi' })
  const reference = { type: 'item_reference' as const, id: output[0]?.id ?? '' }
  const question = { role: 'user' as const, content: 'Again?' }
  await openai.responses.create({ model, input: [reference, question] })
  expect(messagesOf(asked[1])).toEqual([{ role: 'assistant', content: 'Hello' }, question])
  await expect(
    openai.responses.create({ model, input: [{ type: 'item_reference', id: 'msg_x' }] }),
  ).rejects.toMatchObject({ status: 404, code: 'response_not_found', param: 'input.0.id' })
})

test('with store: false, a response is not kept', async () => {
  const { openai } = await useScriptedOpenai([{ text: 'Hello' }])
  const { id, output } = await openai.responses.create({ model, input: 'Hi', store: false })
  await expect(openai.responses.retrieve(id)).rejects.toMatchObject({
    status: 404,
    code: 'response_not_found',
    message: expect.stringMatching(/only in memory.*until the daemon is restarted/),
  })
  const reference = { type: 'item_reference' as const, id: output[0]?.id ?? '' }
  await expect(openai.responses.create({ model, input: [reference] })).rejects.toMatchObject({
    status: 404,
  })
  await expect(
    openai.responses.create({ model, input: 'Hi', previous_response_id: id }),
  ).rejects.toMatchObject({ status: 404, param: 'previous_response_id' })
})
