import { movedClock } from '@shoal/core/testing'
import { expect, test } from 'vitest'
import { readiness } from './readiness.ts'

/** Checks a store that can fail or hang. Counts the checks, and collects what is logged. */
function checkedStore() {
  const clock = movedClock()
  const logged: string[] = []
  const store = { checks: 0, check: async (): Promise<unknown> => undefined }
  const check = () => {
    store.checks += 1
    return store.check()
  }
  const log = { error: (_details: object, message: string) => void logged.push(message) }
  return { clock, logged, store, findBroken: readiness({ store: check }, log, clock) }
}

test('components are checked at most once a second, however often the result is requested', async () => {
  const { clock, logged, store, findBroken } = checkedStore()
  const ask = () => Promise.all(Array.from({ length: 10 }, findBroken))
  const answers = (name: string | undefined) => Array.from({ length: 10 }, () => name)
  expect(await ask()).toEqual(answers(undefined))
  store.check = () => Promise.reject(new Error('broken'))
  clock.advance(999)
  expect(await ask()).toEqual(answers(undefined))
  expect(store.checks).toBe(1)
  clock.advance(1)
  expect(await ask()).toEqual(answers('store'))
  expect(store.checks).toBe(2)
  expect(logged).toEqual(['the store is not available'])
})

test('a component that does not respond for three seconds is broken, and is not checked again meanwhile', async () => {
  const { clock, store, findBroken } = checkedStore()
  const hanging = Promise.withResolvers<void>()
  store.check = () => hanging.promise
  for (let round = 0; round < 2; round += 1) {
    const answer = findBroken()
    clock.advance(3_000)
    expect(await answer).toBe('store')
  }
  expect(store.checks).toBe(1)

  store.check = async () => undefined
  hanging.resolve()
  await expect
    .poll(() => {
      clock.advance(1_000)
      return findBroken()
    })
    .toBeUndefined()
  expect(store.checks).toBe(2)
})
