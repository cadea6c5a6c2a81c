import { movedClock } from '@shoal/core/testing'
import { expect, test } from 'vitest'
import { newBoard } from './board.ts'
import type { RunningTask } from './running-task.ts'
import { slowTasks } from './slow-tasks.ts'

const windowMs = 3000
const sampleIntervalMs = 100
const chunkSize = 100_000_000
const any = () => true

/** Simulated requests, each with a rate in bytes per millisecond. */
function requests(rates: number[]) {
  const clock = movedClock()
  const board = newBoard(rates.length)
  const tasks = rates.map((_, index): RunningTask => {
    const chunk = { index, start: index * chunkSize, size: chunkSize, sha256: '' }
    const abort = new AbortController()
    const { signal } = abort
    return { chunk, from: 0, timesBad: 0, signal, abort, startedAt: 0, canGoOn: () => true }
  })
  const slow = slowTasks(board, windowMs, clock)

  return {
    tasks,
    slow,
    clock,
    pass(durationMs: number, now = rates) {
      for (let passed = 0; passed < durationMs; passed += sampleIntervalMs) {
        clock.advance(sampleIntervalMs)
        for (const [index, rate] of now.entries()) {
          Atomics.add(board.written, index, rate * sampleIntervalMs)
          Atomics.add(board.received, 0, BigInt(rate * sampleIntervalMs))
        }
        slow.sample(tasks.filter((_, index) => (now[index] ?? -1) >= 0))
      }
    },
  }
}

test('on a saturated network, a request that receives little is not slow', () => {
  const { slow, pass } = requests([10, 1000, 1000, 1000])
  pass(4 * windowMs)
  expect(slow.takeSlowest(any)).toBeUndefined()
})

test('on an unsaturated network, a request that receives little is slow', () => {
  const { slow, pass, tasks } = requests([10, 1000, 1000, 1000])
  pass(4 * windowMs)
  pass(2 * windowMs, [10, 100, 100, 100])
  expect(slow.takeSlowest(any)?.task).toBe(tasks[0])
})

test('if all requests receive little, none is slow', () => {
  const { slow, pass } = requests([10, 12, 9, 11])
  pass(4 * windowMs)
  expect(slow.takeSlowest(any)).toBeUndefined()
})

test('a request that receives nothing is slow, whatever the other requests receive', () => {
  const { slow, pass, tasks } = requests([1000, 0, 1000])
  pass(2 * windowMs)
  expect(slow.takeSlowest(any)?.task).toBe(tasks[1])
  // No other task is returned until the effect of the first restart can be measured.
  expect(slow.takeSlowest(any)).toBeUndefined()
})

test('measurements from before a suspension of the process are ignored', () => {
  const { slow, pass, clock } = requests([1000, 0, 1000])
  pass(2 * windowMs)
  clock.advance(10_000)
  pass(sampleIntervalMs)
  expect(slow.takeSlowest(any)).toBeUndefined()
})
