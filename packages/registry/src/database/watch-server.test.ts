import { setImmediate } from 'node:timers/promises'
import { movedClock } from '@shoal/core/testing'
import { expect, test } from 'vitest'
import { watchServer } from './watch-server.ts'

function scene() {
  const clock = movedClock()
  const probes: PromiseWithResolvers<void>[] = []
  let bytes = 0
  let silences = 0
  let onSilent: () => void = () => undefined
  const watch = watchServer({
    clock,
    probe: () => {
      const asked = Promise.withResolvers<void>()
      probes.push(asked)
      return asked.promise
    },
    countBytes: () => bytes,
    onSilent: () => {
      silences += 1
      onSilent()
    },
  })
  return {
    watch,
    probes,
    receive: () => {
      bytes += 1
    },
    silences: () => silences,
    onSilent(run: () => void) {
      onSilent = run
    },
    async pass(ms: number) {
      for (let passed = 0; passed < ms; passed += 100) {
        clock.advance(100)
        await setImmediate()
      }
      await setImmediate()
    },
  }
}

test('a server that does not respond while a statement waits is noticed within four seconds', async () => {
  const { watch, probes, pass, silences, onSilent } = scene()
  await pass(10_000)
  expect(probes.length).toBe(0) // no statement waits
  const end = watch.follow()
  onSilent(end)
  await pass(900)
  expect(probes.length).toBe(0)
  await pass(3_100)
  expect([probes.length, silences()]).toEqual([1, 1])
})

test('a server that refuses connections is noticed at once', async () => {
  const { watch, probes, pass, silences } = scene()
  watch.follow()
  await pass(1_500)
  probes[0]?.reject(new Error('ECONNREFUSED'))
  await setImmediate()
  expect(silences()).toBe(1)
})

test('a slow statement is not interrupted while the server responds to probes or sends data', async () => {
  const { watch, probes, pass, receive, silences } = scene()
  const end = watch.follow()
  await pass(1_500)
  probes[0]?.resolve()
  await pass(1_500)
  receive()
  await pass(2_500)
  expect([probes.length, silences()]).toEqual([2, 0])
  end()
  await pass(10_000)
  expect([probes.length, silences()]).toEqual([2, 0])
})
