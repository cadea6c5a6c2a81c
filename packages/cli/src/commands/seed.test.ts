import { once } from 'node:events'
import { expect, test } from 'vitest'
import { makeHome, runShoal, startShoal } from '../testing/run-shoal.ts'
import { shoalHere } from '../testing/shoal-here.ts'

test('seed tells that it shares, and ends when it is told to', async () => {
  await using home = await makeHome()
  const { child, outcome } = startShoal(['seed', '--host', '127.0.0.1'], { home: home.path })
  const [told] = await once(child.stderr, 'data')
  expect(String(told)).toContain('Sharing the models on this machine')
  child.kill('SIGINT')
  expect((await outcome).exitCode).toBe(0)
})

test('who switched sharing off shares nothing', async () => {
  await using home = await makeHome()
  await runShoal(['config', 'set', 'peers', 'off'], { home: home.path })
  const { stderr, exitCode } = await shoalHere(['seed'], { home: home.path })
  expect(stderr).toContain('To allow it: shoal config set peers on')
  expect(exitCode).toBe(2)
})

test.each([
  ['--ratio', 'much', 'is not a ratio'],
  ['--limit-upload', 'fast', 'is not a size'],
])('seed %s %s is refused', async (option, value, words) => {
  await using home = await makeHome()
  const { stderr, exitCode } = await shoalHere(['seed', option, value], { home: home.path })
  expect(stderr).toContain(words)
  expect(exitCode).toBe(2)
})
