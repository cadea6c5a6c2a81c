import { request } from 'node:http'
import { json } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { useTestDaemon } from '../testing/test-daemon.ts'

/** Sends a request with `node:http`, because `fetch` gives every body a content type. */
async function post(port: number, path: string, headers: Record<string, string>) {
  const body = JSON.stringify({ model: 'shoal-nano', messages: [{ role: 'user', content: 'Hi' }] })
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; answer: unknown }>()
  request({ host: '127.0.0.1', port, path, method: 'POST', headers }, (response) => {
    json(response).then((answer) => resolve({ status: response.statusCode ?? 0, answer }), reject)
  })
    .on('error', reject)
    .end(body)
  return promise
}

test('under /v1, a body is accepted only if its content type is JSON or missing', async () => {
  const { port } = await useTestDaemon({}, scriptedRuntime())
  const path = '/v1/chat/completions'
  expect((await post(port, path, {})).status).toBe(200)
  for (const type of ['application/json', 'application/json; charset=utf-8']) {
    expect.soft((await post(port, path, { 'content-type': type })).status, type).toBe(200)
  }
  for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
    const message = `the body must be application/json, not ${type}`
    expect.soft(await post(port, path, { 'content-type': type })).toMatchObject({
      status: 415,
      answer: { detail: message, error: { message, type: 'invalid_request_error' } },
    })
  }
})
