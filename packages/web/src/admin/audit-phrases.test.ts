import { auditActions } from '@shoal/protocol/audit-actions'
import { expect, test } from 'vitest'
import { actions, formatDetail } from './audit-phrases.ts'
import { readAuditSearch } from './audit-search.ts'

test('every action has a phrase', () => {
  expect(actions.toSorted()).toEqual([...auditActions].sort())
})

test.each([
  [{}, ''],
  [{ role: 'admin' }, 'role: admin'],
  [{ from_bytes: null, to_bytes: 5e9 }, 'from: none, to: 5.00 GB'],
  [
    { id: 'a1', name: 'laptop', scopes: ['read', 'write'] },
    'id: a1, name: laptop, scopes: read write',
  ],
  [{ is_public: false, more: { a: 1 } }, 'is public: false, more: {"a":1}'],
])('the details %j are shown as “%s”', (detail, text) => {
  expect(formatDetail(detail)).toBe(text)
})

test('filters are read from the URL', () => {
  expect(readAuditSearch({ actor: 'ana', subject: 42, action: '', other: 'x' })).toEqual({
    actor: 'ana',
    subject: '42',
  })
})
