import { once } from 'node:events'
import { expect, test } from 'vitest'
import { closeThread, startThread, type Thread, terminateThread } from './start-thread.ts'
import type { LateSetup } from './testing/late-thread.ts'

const timeoutMs = 10

type Methods = { close(): Promise<void> }

test.each([
  ['closed', (thread: Thread<Methods>) => closeThread(thread, timeoutMs)],
  ['terminated', terminateThread],
])('a thread that is %s while loading ends after it has loaded', async (_, end) => {
  const hasLoaded = new Int32Array(new SharedArrayBuffer(4))
  const setup: LateSetup = { hasLoaded, loadMs: 500 }
  const thread = startThread<Methods>('testing/late-thread', import.meta.url, setup)
  await once(thread.worker, 'online')
  await end(thread)
  expect(Atomics.load(hasLoaded, 0)).toBe(1)
  expect(thread.worker.threadId).toBe(-1)
})

test('a thread that fails to load can be terminated and closed', async () => {
  const thread = startThread<Methods>('no-such-thread', import.meta.url, {})
  const failed = once(thread.worker, 'error')
  await terminateThread(thread)
  expect(String(await failed)).toContain('no-such-thread')
  await closeThread(thread, timeoutMs)
})

test('closeThread rejects with the error from close after the thread has ended', async () => {
  const thread = startThread<Methods>('testing/failing-thread', import.meta.url, {})
  const error = await closeThread(thread, 60_000).catch((caught) => caught)
  expect(error).toMatchObject({ message: 'the socket is stuck', code: 'EBUSY' })
  expect(thread.worker.threadId).toBe(-1)
})
