import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { scriptedDaemon } from '../testing/scripted-daemon.ts'
import { scriptedRegistry } from '../testing/scripted-registry.ts'
import { findPortHolder } from './port-holder.ts'

async function answering(text: string) {
  const server = createServer((_, answer) => answer.end(text))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { port, [Symbol.dispose]: () => void server.close() }
}

test('shoal programs are distinguished from Ollama, although the daemon can return the same text', async () => {
  await using daemon = await scriptedDaemon()
  expect(await findPortHolder(daemon.port)).toBe('daemon')
  await using registry = await scriptedRegistry({ 'GET /healthz': { body: { status: 'ok' } } })
  expect(await findPortHolder(Number(new URL(registry.address).port))).toBe('registry')
  using ollama = await answering('Ollama is running')
  expect(await findPortHolder(ollama.port)).toBe('Ollama')
  using other = await answering('hello')
  expect(await findPortHolder(other.port)).toBe('other')
})

test('a port that was released is free', async () => {
  const left = await answering('hello')
  left[Symbol.dispose]()
  expect(await findPortHolder(left.port)).toBeUndefined()
})
