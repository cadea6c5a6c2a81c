import { setImmediate } from 'node:timers/promises'
import { movedClock } from '@shoal/core/testing'
import { ApiError, NetworkError, type NetworkFailure } from '@shoal/protocol/client'
import { expect, test, vi } from 'vitest'
import type { WaitingEvent } from './events.ts'
import { createRetrier, type RetrierOptions } from './retrier.ts'

const host = 'shoal.test'
const lost: NetworkFailure = {
  code: 'unreachable',
  reason: 'reset',
  host,
  detail: 'socket hang up',
}
const unreachable = new NetworkError(lost)

/** A retrier whose time passes only when a test moves its clock. */
function open(changes: Partial<RetrierOptions> = {}) {
  const clock = movedClock()
  const waits: WaitingEvent[] = []
  const stop = new AbortController()
  const onMoving = vi.fn<() => void>()
  const retrier = createRetrier({
    maxWaitMs: 2_000,
    timeoutMs: 60_000,
    signal: stop.signal,
    host,
    onMoving,
    report: (event) => waits.push(event),
    clock,
    ...changes,
  })
  /** Lets time pass in small steps, after each of which everything runs that is due. */
  async function pass(ms: number) {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await setImmediate()
      clock.advance(stepMs)
    }
    await setImmediate()
  }
  /** Lets time pass until the call ends. Returns its result or its error. */
  async function outcome<T>(calling: Promise<T>) {
    let isRunning = true
    const settled = calling
      .catch((error: unknown) => error)
      .finally(() => {
        isRunning = false
      })
    while (isRunning) await pass(stepMs)
    return settled
  }
  return { retrier, waits, stop, onMoving, clock, pass, outcome }
}

const stepMs = 50

/** Fails once for each error, then succeeds. */
const failing = (...errors: Error[]) =>
  vi.fn(async () => {
    const error = errors.shift()
    if (error) throw error
    return 'answer'
  })

test.each([
  ['no response', unreachable],
  ['a 502', new ApiError(502, { detail: 'bad gateway' })],
  ['a 429', new ApiError(429, { detail: 'too often' })],
])('a call is retried after %s', async (_, error) => {
  const act = failing(error, error)
  const { retrier, outcome } = open()
  expect(await outcome(retrier.call(act))).toBe('answer')
  expect(act).toHaveBeenCalledTimes(3)
})

test.each([
  ['a refusal', new ApiError(403, { detail: 'not yours' })],
  ['a full disk', new ApiError(503, { detail: 'full', code: 'storage_full' }, '1')],
  [
    'a response from another program',
    new NetworkError({ ...lost, code: 'not_a_registry', reason: 'html' }),
  ],
])('a call is not retried after %s', async (_, error) => {
  const act = failing(error)
  const { retrier, outcome } = open()
  expect(await outcome(retrier.call(act))).toBe(error)
  expect(act).toHaveBeenCalledTimes(1)
})

test('a registry that keeps returning 500 is not retried forever', async () => {
  const error = new ApiError(500, { detail: 'internal server error' })
  const act = failing(...Array.from({ length: 100 }, () => error))
  const { retrier, outcome } = open()
  expect(await outcome(retrier.call(act))).toBe(error)
  expect(act).toHaveBeenCalledTimes(6)
})

test('a requested wait delays all requests, is reported, and ends', async () => {
  const { retrier, waits, onMoving, pass } = open()
  const calling = retrier.call(failing(new ApiError(503, { detail: 'busy' }, '7')))
  await pass(0)
  expect(waits).toEqual([{ type: 'waiting', seconds: 7, reason: `${host} is busy (503)` }])
  const passed = vi.fn<() => void>()
  const other = retrier.waitUntilOpen().then(passed)
  retrier.wake() // a restored network does not shorten a requested wait
  await pass(6_900)
  expect(passed).not.toHaveBeenCalled()
  expect(onMoving).not.toHaveBeenCalled()
  await pass(200)
  await other
  expect(await calling).toBe('answer')
  expect(onMoving).toHaveBeenCalledTimes(1)
})

test('if the requested wait is longer than the timeout, the call fails immediately', async () => {
  const error = new ApiError(503, { detail: 'busy' }, '3600')
  const { retrier, outcome } = open()
  expect(await outcome(retrier.call(failing(error)))).toBe(error)
})

test('a call to a registry that stays offline fails with the network error after the timeout', async () => {
  const act = failing(...Array.from({ length: 1000 }, () => unreachable))
  const { retrier, outcome, clock } = open()
  expect(await outcome(retrier.call(act))).toBe(unreachable)
  expect(clock.now()).toBeGreaterThan(60_000)
  expect(clock.now()).toBeLessThan(63_000)
})

test('while bytes move, waits are not reported, and the timeout restarts', async () => {
  const { retrier, waits, pass } = open({ timeoutMs: 3_000 })
  for (let seconds = 0; seconds < 10; seconds += 1) {
    retrier.noteMove()
    const enduring = retrier.waitOrThrow(
      { kind: 'lost', message: 'reset', networkFailure: lost },
      1,
    )
    await pass(1_000)
    await enduring
  }
  expect(waits).toEqual([])
})

test('a restored network ends a wait', async () => {
  const { retrier, waits, stop, pass } = open({ maxWaitMs: 30_000, isOffline: () => true })
  const act = vi.fn(async () => Promise.reject(unreachable))
  const calling = retrier.call(act).catch((reason: unknown) => reason)
  await pass(45_000)
  const calls = act.mock.calls.length
  expect(waits).toHaveLength(calls)
  retrier.wake()
  await pass(0)
  expect(act).toHaveBeenCalledTimes(calls + 1)
  stop.abort(unreachable)
  expect(await calling).toBe(unreachable)
})

test('an aborted signal ends a wait', async () => {
  const { retrier, stop, pass } = open()
  const error = new ApiError(503, { detail: 'busy' }, '30')
  const calling = retrier.call(failing(error)).catch((reason: unknown) => reason)
  await pass(0)
  stop.abort(new Error('enough'))
  expect(await calling).toEqual(new Error('enough'))
})

test('a push fails if a chunk is never stored, even if the registry keeps responding', async () => {
  const { retrier, outcome } = open({ timeoutMs: 5_000 })
  const failure = { kind: 'lost', message: 'no answer', networkFailure: lost } as const
  let attempts = 0
  const sending = async () => {
    for (;;) {
      attempts += 1
      await retrier.waitOrThrow(failure, attempts)
      await retrier.call(async () => 'still missing', { isProgress: false })
    }
  }
  expect(await outcome(sending())).toBeInstanceOf(Error)
  expect(attempts).toBeGreaterThan(1)
})
