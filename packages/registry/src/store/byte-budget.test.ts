import { mebibyte } from '@shoal/core/units'
import { expect, test } from 'vitest'
import { byteBudget } from './byte-budget.ts'

test('one transfer may hold 2 MiB, and many share the budget equally', () => {
  const budget = byteBudget(128 * mebibyte)
  const first = budget.join()
  expect(first.maxBytes()).toBe(2 * mebibyte)
  const others = Array.from({ length: 1_023 }, () => budget.join())
  expect(first.maxBytes()).toBe(mebibyte / 8)
  for (const share of others) share.leave()
  expect(budget.transfers()).toBe(1)
  expect(first.maxBytes()).toBe(2 * mebibyte)
})

test('a transfer cannot use memory that other transfers hold, but it may always use 4 KiB', () => {
  const budget = byteBudget(4 * mebibyte)
  const [one, other, late] = [budget.join(), budget.join(), budget.join()]
  const slices = one.take(2 * mebibyte)
  other.hold(1.5 * mebibyte)
  expect(late.maxBytes()).toBe(mebibyte / 2)
  late.hold(mebibyte / 2)
  expect(budget.usedBytes()).toBe(4 * mebibyte)
  expect(budget.join().maxBytes()).toBe(4096)
  one.give(slices.slice(0, 16))
  expect(budget.usedBytes()).toBe(3 * mebibyte)
  one.leave()
  one.leave()
  other.leave()
  expect(budget.usedBytes()).toBe(mebibyte / 2)
})

test('buffers are split into slices of 64 KiB', () => {
  const sizes = byteBudget()
    .join()
    .take(150_000)
    .map(({ length }) => length)
  expect(sizes).toEqual([65_536, 65_536, 18_928])
})
