import { once } from 'node:events'
import { expect, test } from 'vitest'
import { closeThread, startThread, terminateThread } from './start-thread.ts'
import type { LateSetup } from './testing/late-thread.ts'

const timeoutMs = 10

test.each([
  ['closed', (thread: ReturnType<typeof startThread>) => closeThread(thread, timeoutMs)],
  ['terminated', terminateThread],
])('a thread that is %s while it is loading ends when it has loaded', async (_, end) => {
  const hasLoaded = new Int32Array(new SharedArrayBuffer(4))
  const setup: LateSetup = { hasLoaded, loadMs: 500 }
  const thread = startThread('testing/late-thread', import.meta.url, setup)
  await once(thread, 'online')
  await end(thread)
  expect(Atomics.load(hasLoaded, 0)).toBe(1)
  expect(thread.threadId).toBe(-1)
})

test('a thread that fails to load has ended', async () => {
  const thread = startThread('no-such-thread', import.meta.url, {})
  const failed = once(thread, 'error')
  await terminateThread(thread)
  expect(String(await failed)).toContain('no-such-thread')
  await closeThread(thread, timeoutMs)
})
