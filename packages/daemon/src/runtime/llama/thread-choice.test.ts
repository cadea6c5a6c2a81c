import { expect, test } from 'vitest'
import { threadChoice } from './thread-choice.ts'

type Machine = {
  /** How long a batch takes, in milliseconds. */
  msWith: (threads: number) => number
  freeCores?: number | undefined
}

/** Simulates a machine that generates tokens and has its own clock. */
function generating(maxThreads: number, machine: Machine) {
  const choice = threadChoice(maxThreads)
  let clock = 0
  function batch({ tokens = 1, conversations = 1 } = {}) {
    const { msWith, freeCores } = machine
    const threads = choice.begin({ tokens, conversations, freeCores }, clock)
    const ms = msWith(threads)
    clock += ms
    choice.end(clock)
    return { threads, ms }
  }
  return {
    batch,
    batches: (count: number, options = {}) => Array.from({ length: count }, () => batch(options)),
    rest(ms: number) {
      clock += ms
    },
  }
}

const listThreads = (batches: { threads: number }[]) => batches.map(({ threads }) => threads)
const halving = (threads: number) => 80 / threads
const colliding = (threads: number) => (threads === 1 ? 1 : 100)

test('if more threads are faster, all threads are used', () => {
  const machine = generating(8, { msWith: halving, freeCores: 8 })
  expect(listThreads(machine.batches(12))).toEqual([8, 8, 8, 4, 4, 4, 8, 8, 8, 8, 8, 8])
})

test('if two threads block each other, only one is used after a few tokens', () => {
  const machine = generating(2, { msWith: colliding, freeCores: 2 })
  expect(listThreads(machine.batches(8))).toEqual([2, 2, 2, 1, 1, 1, 1, 1])
})

test('each trial halves the number of threads while there are too many', () => {
  const machine = generating(16, { msWith: (threads) => 1 + threads ** 2 })
  for (let second = 0; second < 10; second += 1) {
    machine.batches(12)
    machine.rest(60_000)
  }
  expect(machine.batch().threads).toBe(1)
})

test('a gain of a few percent does not justify fewer threads, because prompts need all threads', () => {
  const machine = generating(8, { msWith: (threads) => (threads === 8 ? 100 : 95) })
  machine.batches(6)
  expect(machine.batch().threads).toBe(8)
})

test('there are never more threads than free cores', () => {
  const load = { msWith: halving, freeCores: 8 as number | undefined }
  const machine = generating(8, load)
  machine.batches(10)
  load.freeCores = 2.9
  expect(machine.batch().threads).toBe(3)
  load.freeCores = 0.2
  expect(listThreads(machine.batches(20))).toEqual(Array(20).fill(1))
  load.freeCores = 7.8
  expect(machine.batch().threads).toBe(8)
})

test('a trial ends if other programs take the cores that it needs', () => {
  const load = { msWith: colliding, freeCores: 2 }
  const machine = generating(2, load)
  machine.batches(6)
  machine.rest(60_000)
  machine.batches(3)
  load.freeCores = 1
  expect(machine.batch().threads).toBe(1)
})

test('more threads are tried again, and abandoned after one slow batch', () => {
  const machine = generating(2, { msWith: colliding, freeCores: 2 })
  machine.batches(6)
  machine.rest(60_000)
  expect(listThreads(machine.batches(6))).toEqual([1, 1, 1, 2, 1, 1])
})

test('when threads no longer block each other, all threads are used again', () => {
  const load: Machine = { msWith: colliding, freeCores: 2 }
  const machine = generating(2, load)
  machine.batches(6)
  load.msWith = halving
  machine.rest(60_000)
  machine.batches(6)
  expect(machine.batch().threads).toBe(2)
})

test('trials take at most a twentieth of the time', () => {
  const machine = generating(2, { msWith: (threads) => (threads === 1 ? 20 : 2_000) })
  machine.batches(6)
  const later = machine.batches(20_000)
  const spentMs = later.filter(({ threads }) => threads === 2).reduce((sum, { ms }) => sum + ms, 0)
  const totalMs = later.reduce((sum, { ms }) => sum + ms, 0)
  expect(spentMs / totalMs).toBeLessThanOrEqual(0.05)
  expect(spentMs).toBeGreaterThan(0)
})

test('prompts, and batches with different numbers of conversations, are not compared', () => {
  const machine = generating(4, { msWith: halving, freeCores: 4 })
  machine.batches(2)
  machine.batches(1, { tokens: 100 })
  machine.batches(2)
  machine.batches(1, { tokens: 2, conversations: 2 })
  expect(listThreads(machine.batches(5, { tokens: 2, conversations: 2 }))).toEqual([4, 4, 2, 2, 2])
})
