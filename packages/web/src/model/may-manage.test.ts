import { expect, test } from 'vitest'
import { makeMe, makeModelRecord } from '../testing/samples.ts'
import { mayManage } from './may-manage.ts'

test('the owner and administrators manage a model, and other users do not', () => {
  const model = makeModelRecord('tide', { owner: 'ana' })
  expect(mayManage(makeMe('ana'), model)).toBe(true)
  expect(mayManage(makeMe('ben', { is_admin: true }), model)).toBe(true)
  expect(mayManage(makeMe('ben'), model)).toBe(false)
})
