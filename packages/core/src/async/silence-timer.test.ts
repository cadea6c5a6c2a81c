import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { silenceTimer } from './silence-timer.ts'

/** Returns the two ends of a connection. */
async function openConnection() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const accepted = once(server, 'connection')
  const here = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [there] = await accepted
  onTestFinished(() => {
    here.destroy()
    there.destroy()
    server.close()
  })
  return { here, there }
}

const blockMs = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

test('bytes that arrived while this thread was busy count as in time', async () => {
  const { here, there } = await openConnection()
  const { promise: silent, resolve: onSilence } = Promise.withResolvers<void>()
  let refreshes = 0
  let isSilent = false
  const timer = silenceTimer(100, () => {
    isSilent = true
    onSilence()
  })
  onTestFinished(timer.stop)
  here.on('data', () => {
    refreshes += 1
    timer.refresh()
  })
  there.write('x')
  blockMs(300)
  await once(here, 'data')
  expect({ refreshes, isSilent }).toEqual({ refreshes: 1, isSilent: false })
  await silent
})

test('a timer can be stopped until the last moment', async () => {
  let isSilent = false
  const timer = silenceTimer(5, () => {
    isSilent = true
  })
  const stopped = new Promise<void>((resolve) => {
    setTimeout(() => resolve(timer.stop()), 5) // runs right after the timer has expired
  })
  blockMs(20)
  await stopped
  await setImmediate()
  expect(isSilent).toBe(false)
})
