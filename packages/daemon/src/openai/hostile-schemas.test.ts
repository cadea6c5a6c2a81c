/**
 * Tests that schemas designed to be slow to convert are refused with a clear error, and that other requests continue
 * during the conversion.
 */
import { afterAll, beforeAll, expect } from 'vitest'
import { slowTest } from '../../../../testing/slow-test.ts'
import { postJson } from '../testing/post-json.ts'
import { startTestDaemon } from '../testing/test-daemon.ts'

let daemon: Awaited<ReturnType<typeof startTestDaemon>>
beforeAll(async () => {
  daemon = await startTestDaemon()
})
afterAll(() => daemon.close())

const countTo = (count: number) => Array.from({ length: count }, (_, index) => index)
const nested = (depth: number, open: string, close: string) =>
  `${open.repeat(depth)}{}${close.repeat(depth)}`

async function answer(schema: string, more: object = {}) {
  const format = `{"type":"json_schema","json_schema":{"name":"x","schema":${schema}}}`
  const request = { model: 'shoal-tiny', messages: [{ role: 'user', content: 'Hello' }], ...more }
  const body = `${JSON.stringify(request).slice(0, -1)},"response_format":${format}}`
  return postJson(`${daemon.url}/v1/chat/completions`, body)
}

const stringify = JSON.stringify
/** This schema is refused only after about half a second of conversion. */
const exploding = { type: 'string', pattern: '^((a{0,60}b?){0,60})$' }
const schemas: Record<string, string> = {
  'deep schemas': nested(150, '{"type":"array","items":', '}'),
  'deep negations': nested(150, '{"not":', '}'),
  'schemas that contain themselves': stringify({ anyOf: [{ $ref: '#' }, { $ref: '#' }] }),
  'patterns that need too many states': stringify(exploding),
  'schemas that exclude a long string': stringify({ not: { const: 'ab'.repeat(300_000) } }),
  'schemas with 10,000 optional properties': stringify({
    properties: Object.fromEntries(countTo(10_000).map((index) => [`p${index}`, {}])),
  }),
  'schemas with many independent choices': stringify({
    allOf: countTo(30).map((n) => ({ anyOf: [{ required: [`a${n}`] }, { required: [`b${n}`] }] })),
  }),
}

slowTest.each(Object.entries(schemas))('%s are refused', async (_, schema) => {
  const response = await answer(schema)
  const { error } = (await response.json()) as { error: { message: string } }
  expect(response.status).toBe(400)
  expect(error.message).toMatch(/the schema: .{10,300}$/)
})

slowTest('other requests are answered while schemas are converted', async () => {
  const ended: string[] = []
  const slow = countTo(3).map((n) => answer(stringify({ ...exploding, minLength: n })))
  await Promise.all([
    Promise.all(slow).then(() => ended.push('schemas')),
    ...countTo(3).map(() =>
      postJson(`${daemon.url}/v1/completions`, {
        model: 'shoal-tiny',
        prompt: 'Hello',
        max_tokens: 5,
      }).then(() => ended.push('text')),
    ),
  ])
  expect(ended.slice(0, 3)).toEqual(['text', 'text', 'text'])
})

slowTest('an enum of 20,000 strings is enforced', async () => {
  const values = countTo(20_000).map((index) => `value ${index}`)
  const response = await answer(stringify({ enum: values }), { max_tokens: 200, temperature: 1 })
  const { choices } = (await response.json()) as { choices: { message: { content: string } }[] }
  expect(values).toContain(JSON.parse(choices[0]?.message.content ?? ''))
})
