import { expect, test } from 'vitest'
import { limitedThread, ThreadLimitError, type ThreadLimits } from './limited-thread.ts'

const open = (method: string, limits: Partial<ThreadLimits> = {}) =>
  limitedThread<string, string>(
    { name: 'testing/working-thread', parentUrl: import.meta.url },
    method,
    {
      ...{ maxCpuMs: 60_000, maxHeapMb: 64 },
      ...limits,
    },
  )

test('calls are served one after another, and an error rejects only its own call', async () => {
  const echo = open('echo')
  const results = await Promise.allSettled(['a', 'fail', 'b'].map(echo))
  expect(results).toEqual([
    { status: 'fulfilled', value: 'a' },
    { status: 'rejected', reason: expect.objectContaining({ message: 'failed' }) },
    { status: 'fulfilled', value: 'b' },
  ])
})

test('a call that takes too much processor time is rejected, and the next call gets a new thread', async () => {
  const work = open('work', { maxCpuMs: 50 })
  const [endless, short] = [work('endless'), work('short')]
  await expect(endless).rejects.toThrow(ThreadLimitError)
  await expect(endless).rejects.toThrow('takes more than 0.05 s of processor time')
  expect(await short).toBe('done')
})

test('a call that takes too much memory is rejected, and the next call gets a new thread', async () => {
  const work = open('work', { maxHeapMb: 32 })
  const [large, short] = [work('large'), work('short')]
  await expect(large).rejects.toThrow('takes more than 32 MiB of memory')
  expect(await short).toBe('done')
})

test('the calling thread can do other work during a call', async () => {
  const work = open('work', { maxCpuMs: 100 })
  let isOver = false
  const call = work('endless').catch((error) => error)
  call.finally(() => {
    isOver = true
  })
  let turns = 0
  for (; !isOver; turns += 1) await new Promise((resolve) => setImmediate(resolve))
  expect(await call).toBeInstanceOf(ThreadLimitError)
  expect(turns).toBeGreaterThan(10)
})
