import { ApiError } from '@shoal/protocol/client'
import { expect, test } from 'vitest'
import { pullFault } from './registry-fault.ts'

const pulled = { model: 'tide', registry: 'http://a.test', modelsDirectory: '/models' }

test.each([
  [
    401,
    'the registry at http://a.test requires you to sign in again: shoal login --registry http://a.test',
  ],
  [403, 'the registry at http://a.test does not allow the request: no'],
])('a pull that the registry refuses with status %i says what to do, or why', (status, message) => {
  const fault = pullFault(new ApiError(status, { detail: 'no' }), pulled)
  expect(fault).toMatchObject({ message, details: { status: 403, reason: 'registry_refused' } })
})
