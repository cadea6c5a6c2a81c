import { ApiError, NetworkError } from '@shoal/protocol/client'
import { expect, test } from 'vitest'
import { bytesRefused } from '../errors.ts'
import { afterRefusal } from './after-refusal.ts'

const refusal = (status: number) => new ApiError(status, { detail: `status ${status}` })

test.each([
  [401, 'renew'],
  [403, 'renew'],
  [404, 'renew'],
  [400, 'check'],
] as const)('status %i means: %s, up to four times', (status, action) => {
  for (const count of [1, 2, 3, 4]) expect(afterRefusal(refusal(status), count)).toBe(action)
  expect(() => afterRefusal(refusal(status), 5)).toThrow(`status ${status}`)
})

test('an expired URL does not suggest signing in', () => {
  expect(() => afterRefusal(refusal(401), 5)).toThrow(
    expect.objectContaining({ code: 'bytes_refused', details: { status: 401 } }),
  )
})

test('other statuses, and other errors, end the push at once', () => {
  for (const error of [refusal(413), refusal(500), new Error('the file has changed')]) {
    expect(() => afterRefusal(error, 1)).toThrow(error)
  }
})

test('the response of another program is reported as such', () => {
  const details = { code: 'not_a_registry', reason: 'html', host: 'a', detail: 'a page' } as const
  const cause = new NetworkError(details)
  const error = bytesRefused('a page', 200, { cause })
  expect(() => afterRefusal(error, 1)).toThrow(cause)
})
