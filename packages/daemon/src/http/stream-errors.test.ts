/** Tests that an error within a stream is logged, although the status of the response is 200. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Piece, StartRuntime } from '../runtime/runtime.ts'
import { postJson } from '../testing/post-json.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { startTestDaemon } from '../testing/test-daemon.ts'

/** A model whose answer fails with an unexpected error after its first part. */
const faulty: StartRuntime = async (options) => ({
  ...(await scriptedRuntime()(options)),
  async *generate() {
    const first: Piece = { text: 'Hello' }
    yield first
    throw new TypeError('broken inside')
  },
})

const messages = [{ role: 'user', content: 'Hi' }]

test.each([
  ['/v1/chat/completions', { messages }],
  ['/v1/completions', { prompt: 'Hi' }],
  ['/v1/responses', { input: 'Hi' }],
  ['/v1/messages', { messages, max_tokens: 5 }],
  ['/api/chat', { messages }],
])('an error within a stream from %s is logged', async (path, body) => {
  const folder = await mkdtemp(join(tmpdir(), 'shoal-log-'))
  const file = join(folder, 'daemon.log')
  const { url, close } = await startTestDaemon({ log: { file } }, faulty)
  onTestFinished(async () => {
    await close()
    await rm(folder, { recursive: true })
  })
  const response = await postJson(`${url}${path}`, { model: 'shoal-tiny', stream: true, ...body })
  expect(response.status).toBe(200)
  const text = await response.text()
  expect(text).toContain('internal error in the daemon')
  expect(text).not.toContain('broken inside')
  await expect.poll(() => readFile(file, 'utf8')).toMatch(/"broken inside".*"a stream failed"/)
})
