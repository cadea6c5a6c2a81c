import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readTestSeed } from './seed.ts'

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-seed-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

/** Commits an empty tree with this message. */
function commit(folder: string, message: string) {
  const author = ['-c', 'user.name=ana', '-c', 'user.email=ana@localhost']
  const words = ['commit', '--quiet', '--allow-empty', '--message', message]
  execFileSync('git', ['-C', folder, ...author, ...words])
}

test('the seed changes with the commit', () => {
  const folder = makeFolder()
  execFileSync('git', ['init', '--quiet', folder])
  commit(folder, 'one')
  const first = readTestSeed(folder, {})
  expect(first).toBeGreaterThan(1)
  expect(readTestSeed(folder, {})).toBe(first)
  commit(folder, 'two')
  expect(readTestSeed(folder, {})).not.toBe(first)
})

test('outside a clone, the seed is 1', () => {
  expect(readTestSeed(makeFolder(), {})).toBe(1)
})

test('SHOAL_TEST_SEED overrides the seed', () => {
  expect(readTestSeed('/', { SHOAL_TEST_SEED: '7' })).toBe(7)
  for (const wrong of ['0', '1.5', 'x', '1000000000']) {
    expect(() => readTestSeed('/', { SHOAL_TEST_SEED: wrong })).toThrow('whole number')
  }
})
