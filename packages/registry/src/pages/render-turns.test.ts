import { expect, test } from 'vitest'
import { renderTurns } from './render-turns.ts'

const gone = () => new Error('gone')
const never = () => false

test('tasks run in order, at most two at a time, and other work runs between them', async () => {
  const take = renderTurns(2, gone)
  let running = 0
  let maxRunning = 0
  let otherWork = 0
  const timer = setInterval(() => {
    otherWork += 1
  }, 0)
  const order: number[] = []
  await Promise.all(
    Array.from({ length: 20 }, (_, number) =>
      take(never, async () => {
        running += 1
        maxRunning = Math.max(maxRunning, running)
        const endsAt = performance.now() + 5
        while (performance.now() < endsAt); // blocks the event loop, as React does
        await undefined
        running -= 1
        order.push(number)
      }),
    ),
  )
  clearInterval(timer)
  expect([running, maxRunning]).toEqual([0, 2])
  expect(order).toEqual(Array.from({ length: 20 }, (_, number) => number))
  expect(otherWork).toBeGreaterThan(3)
})

test('the next task runs after a task that failed or whose client has disconnected', async () => {
  const take = renderTurns(1, gone)
  const failed = take(never, () => Promise.reject(new Error('broken')))
  const left = take(
    () => true,
    async () => 'never',
  )
  const last = take(never, async () => 'done')
  await expect(failed).rejects.toThrow('broken')
  await expect(left).rejects.toThrow('gone')
  expect(await last).toBe('done')
})
