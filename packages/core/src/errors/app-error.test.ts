import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { AppError, hasCode } from './index.ts'
import { isAppError } from './table.ts'

const full = () => new AppError('no_room', 'the disk is full', { neededBytes: 2, freeBytes: 1 })

test('an error is recognized by its code', () => {
  const error: unknown = full()
  expect(error).toBeInstanceOf(Error)
  expect(hasCode(error, 'file_busy', 'no_room')).toBe(true)
  expect(hasCode(error, 'file_busy')).toBe(false)
  expect(hasCode(error, 'no_room') && error.details.freeBytes).toBe(1)
  expect(isAppError(error)).toBe(true)
})

test('errors from Node and values that are not errors do not match', () => {
  for (const other of [Object.assign(new Error('x'), { code: 'busy' }), 'busy', null, undefined]) {
    expect(hasCode(other, 'busy')).toBe(false)
    expect(isAppError(other)).toBe(false)
  }
})

test('the code and the details can be posted to another thread', async () => {
  const worker = new Worker(
    "require('node:worker_threads').parentPort.on('message', (value) => { throw Object.assign(new Error('far'), value) })",
    { eval: true },
  )
  const failed = new Promise<unknown>((resolve) => worker.once('error', resolve))
  worker.postMessage({ ...full() })
  const error = await failed
  expect(error).not.toBeInstanceOf(AppError)
  expect(hasCode(error, 'no_room') && error.details).toEqual({ neededBytes: 2, freeBytes: 1 })
})
