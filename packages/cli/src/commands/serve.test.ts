import { once } from 'node:events'
import { cpSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeHome, runShoal, startShoal } from '../testing/run-shoal.ts'

const demoModel = join(import.meta.dirname, '../../../../models/shoal-nano/shoal-nano-Q8_0.gguf')

test('serve loads a model of this machine and answers with it, until it is ended', async () => {
  await using home = await makeHome()
  cpSync(demoModel, join(home.models, 'shoal-nano', 'shoal-nano-Q8_0.gguf'))
  const words = ['serve', '--port', '0', '--model', 'shoal-nano']
  const { child, outcome } = startShoal(words, { home: home.path })
  let told = ''
  while (!told.includes('/v1')) told += String((await once(child.stderr, 'data'))[0])
  const [url] = /http:\/\/localhost:\d+\/v1/.exec(told) ?? []
  expect(told).toContain('any key works')

  const models = (await (await fetch(`${url}/models`)).json()) as { data: { id: string }[] }
  expect(models.data.map(({ id }) => id)).toEqual(['shoal-nano'])
  const answer = await fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer anything' },
    body: JSON.stringify({ model: 'shoal-nano', messages: [{ role: 'user', content: 'Hello' }] }),
  })
  expect(await answer.json()).toMatchObject({ choices: [{ message: { role: 'assistant' } }] })
  child.kill('SIGINT')
  expect((await outcome).exitCode).toBe(0)
})

test('a model that is not here ends it with what to do', async () => {
  await using home = await makeHome()
  const words = ['serve', '--port', '0', '--model', 'nobody-7b']
  const { stderr, exitCode } = await runShoal(words, { home: home.path })
  expect(stderr).toContain('shoal pull nobody-7b')
  expect(exitCode).toBe(1)
})

test('Ollama on the port is named', async () => {
  await using home = await makeHome()
  const ollama = createServer((_, answer) => answer.end('Ollama is running'))
  ollama.listen(0, '127.0.0.1')
  await once(ollama, 'listening')
  const { port } = ollama.address() as AddressInfo
  const { stderr, exitCode } = await runShoal(['serve', '--port', `${port}`], { home: home.path })
  ollama.close()
  expect(stderr).toContain(`✗ Port ${port} is taken by Ollama.`)
  expect(stderr).toContain(`shoal serve --port ${port + 1}`)
  expect(exitCode).toBe(1)
})
