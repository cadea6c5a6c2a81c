import { expect, test } from 'vitest'
import { readableLine } from './log-line.ts'

const time = new Date(2026, 0, 31, 12, 0, 1).getTime()
const line = (entry: object) => readableLine(JSON.stringify({ level: 30, time, pid: 7, ...entry }))

test('a request is shown with its method, path, status and time', () => {
  const request = { msg: 'request', method: 'POST', path: '/v1/chat/completions', status: 200 }
  expect(line({ ...request, ms: 12.3, reqId: 'x' })).toBe(
    '2026-01-31 12:00:01 request  POST  /v1/chat/completions  200  12.3 ms',
  )
})

test('an error is shown with its level and reason', () => {
  const err = { type: 'Error', message: 'the file is damaged', stack: 'Error: …' }
  expect(line({ level: 50, msg: 'a model could not be loaded', model: 'tide', err })).toBe(
    '2026-01-31 12:00:01 error: a model could not be loaded  tide (the file is damaged)',
  )
})

test('other text is shown as it is', () => {
  expect(readableLine('{"half": ')).toBe('{"half": ')
})
