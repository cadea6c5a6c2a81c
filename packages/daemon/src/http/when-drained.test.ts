import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { whenDrained } from './when-drained.ts'

test('whenDrained waits until the client reads or disconnects, and leaves no listeners', async () => {
  const response = new PassThrough()
  const before = response.listenerCount('close')
  for (let turn = 0; turn < 20; turn += 1) {
    const drained = whenDrained(response)
    response.emit('drain')
    await drained
  }
  expect(response.listenerCount('close')).toBe(before)
  const closed = whenDrained(response)
  response.destroy()
  await closed
  expect(response.listenerCount('drain')).toBe(0)
})
