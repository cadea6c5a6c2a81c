import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { postJson } from '../testing/post-json.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { useTestDaemon } from '../testing/test-daemon.ts'

test('compressed bodies are accepted, and the size limit applies to the decompressed body', async () => {
  const { url } = await useTestDaemon({}, scriptedRuntime())
  const request = { model: 'shoal-nano', messages: [{ role: 'user', content: 'Hi' }] }
  const plain = JSON.stringify(request)
  const send = async (encoding: string, body: Buffer) => {
    const headers = { 'content-type': 'application/json', 'content-encoding': encoding }
    const init = { headers, body: new Uint8Array(body) }
    const response = await postJson(`${url}/v1/chat/completions`, '', init)
    return [response.status, ((await response.json()) as { detail?: string }).detail]
  }
  expect(await send('gzip', gzipSync(plain))).toEqual([200, undefined])
  expect(await send('deflate', deflateSync(plain))).toEqual([200, undefined])
  expect(await send('br', brotliCompressSync(plain))).toEqual([200, undefined])
  expect(await send('ZSTD', zstdCompressSync(plain))).toEqual([200, undefined])
  const [invalid, why] = await send('gzip', Buffer.from(plain))
  expect([invalid, why]).toEqual([400, expect.stringMatching(/^the body is not valid gzip: /)])
  expect(await send('gzip', gzipSync(plain).subarray(0, -9))).toEqual([400, expect.anything()])
  expect(await send('compress', gzipSync(plain))).toEqual([
    415,
    'Content-Encoding must be one of gzip, deflate, br, zstd, not compress',
  ])
  const bomb = gzipSync(JSON.stringify({ ...request, user: 'a'.repeat(17 * 1024 * 1024) }))
  expect((await send('gzip', bomb))[0]).toBe(413)
})
