import { expect, test } from 'vitest'
import { parseDaemonError } from './errors.ts'

const unexplained = 'the daemon returned status 502 without an error message'

test.each([
  ['OpenAI’s shape', { detail: 'd', error: { message: 'm', code: 'c' } }, 'm', 'c'],
  ['Ollama’s shape', { error: 'm', detail: 'd', code: 'c' }, 'd', 'c'],
  ['Ollama’s shape without a code', { error: 'm' }, 'm', null],
  ['a registry’s response', { detail: 'd', code: 'c' }, 'd', 'c'],
  ['an empty error', { error: {} }, unexplained, null],
  ['an empty object', {}, unexplained, null],
  ['a string', 'oops', unexplained, null],
])('the error in %s has a message and a code', (_, body, message, code) => {
  const error = parseDaemonError(JSON.stringify(body), { status: 502, retryAfterSeconds: 3 })
  expect(error).toMatchObject({
    message,
    details: { status: 502, reason: code, retryAfterSeconds: 3 },
  })
})

test("if the body is a proxy's page or is cut off, the error reports the status", () => {
  expect(parseDaemonError('<html>Bad gateway</html>', { status: 502 }).message).toBe(unexplained)
  expect(parseDaemonError('{"detail": "it w', { status: 502 }).message).toBe(unexplained)
})
