/** Tests that an API key gives access only to its own responses. */
import { expect, test } from 'vitest'
import { connectOpenai } from '../testing/scripted-openai.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { useTestDaemon } from '../testing/test-daemon.ts'

const model = 'shoal-tiny'

test('a response is found only with the key that created it, sent in either header', async () => {
  const { url } = await useTestDaemon({}, scriptedRuntime())
  const [ann, bea] = [connectOpenai(url, 'ann'), connectOpenai(url, 'bea')]
  const { id, output } = await ann.responses.create({ model, input: 'Hi' })
  const item = { type: 'item_reference' as const, id: output[0]?.id ?? '' }

  const missing = { status: 404, code: 'response_not_found' }
  await expect(bea.responses.retrieve(id)).rejects.toMatchObject(missing)
  await expect(bea.responses.delete(id)).rejects.toMatchObject(missing)
  await expect(bea.responses.create({ model, input: [item] })).rejects.toMatchObject(missing)
  const continued = { model, input: 'Hi', previous_response_id: id }
  await expect(bea.responses.create(continued)).rejects.toMatchObject(missing)
  expect((await fetch(`${url}/v1/responses/${id}`)).status).toBe(404)

  expect((await ann.responses.retrieve(id)).id).toBe(id)
  expect((await ann.responses.create(continued)).previous_response_id).toBe(id)
  const headers = { 'x-api-key': 'ann' }
  expect((await fetch(`${url}/v1/responses/${id}`, { headers })).status).toBe(200)
})

test('a kept response cannot be retrieved as a stream', async () => {
  const { url } = await useTestDaemon({}, scriptedRuntime())
  const openai = connectOpenai(url)
  const { id } = await openai.responses.create({ model, input: 'Hi' })
  await expect(openai.responses.retrieve(id, { stream: true })).rejects.toMatchObject({
    status: 400,
    code: 'unsupported_parameter',
    param: 'stream',
  })
  expect((await openai.responses.retrieve(id, { stream: false })).id).toBe(id)
})
