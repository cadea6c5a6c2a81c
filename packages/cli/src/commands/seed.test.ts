import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { makeHome, startShoal } from '../testing/run-shoal.ts'
import { shoalHere } from '../testing/shoal-here.ts'

test('seed reports that it is sharing, and ends at a signal', async () => {
  await using home = await makeHome()
  const { child, outcome } = startShoal(['seed', '--host', '127.0.0.1'], { home: home.path })
  let output = ''
  while (!output.includes('Sharing the models on this machine (0 files)')) {
    output += String((await once(child.stderr, 'data'))[0])
  }
  child.kill('SIGINT')
  expect((await outcome).exitCode).toBe(0)
})

test('seed fails if its port is in use', async () => {
  await using home = await makeHome()
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  const { port } = holder.address() as AddressInfo
  const words = ['seed', '--host', '127.0.0.1', '--port', String(port)]
  const { stderr, exitCode } = await shoalHere(words, { home: home.path })
  expect(stderr).toContain(`✗ Port ${port} is in use by another program.`)
  expect(exitCode).toBe(1)
  holder.close()
})

test('seed refuses to share if the peers setting is off', async () => {
  await using home = await makeHome()
  await shoalHere(['config', 'set', 'peers', 'off'], { home: home.path })
  const { stderr, exitCode } = await shoalHere(['seed'], { home: home.path })
  expect(stderr).toContain('To turn it on: shoal config set peers on')
  expect(exitCode).toBe(2)
})

test.each([
  ['--ratio', 'much', 'is not a valid ratio'],
  ['--limit-upload', 'fast', 'is not a valid speed'],
])('seed %s %s is refused', async (option, value, words) => {
  await using home = await makeHome()
  const { stderr, exitCode } = await shoalHere(['seed', option, value], { home: home.path })
  expect(stderr).toContain(words)
  expect(exitCode).toBe(2)
})
