import { describe, expect, test } from 'vitest'
import { classify, type Outcome } from './ends.ts'

const error = (reported: object) => JSON.stringify({ error: reported })

const good: Outcome = {
  exitCode: 0,
  signal: undefined,
  stdout: '{}',
  stderr: '',
  seconds: 1,
  file: 'correct bytes',
}

const refused: Outcome = {
  ...good,
  exitCode: 6,
  stdout: error({ code: 'unreachable', reason: 'refused', message: 'No answer.', hint: 'Wait.' }),
  file: 'none',
}

describe('the end of a command', () => {
  test('is "correct bytes" if the command exits with 0 and the file exists', () => {
    expect(classify(good)).toBe('correct bytes')
  })

  test('is the cause with its code if the command fails without a file', () => {
    expect(classify(refused)).toEqual({ code: 'unreachable', reason: 'refused' })
  })

  test.each([
    ['wrong bytes under the final name', { ...good, file: 'wrong bytes' }, /wrong bytes/],
    ['exit 0 without the file', { ...good, file: 'none' }, /without the file/],
    ['a failure with the file', { ...refused, file: 'correct bytes' }, /with the file/],
    ['a hang', { ...refused, exitCode: undefined, seconds: 25 }, /no end within 25 s/],
    ['a crash', { ...refused, exitCode: undefined, signal: 'SIGABRT' }, /SIGABRT/],
    ['a stack trace', { ...refused, stderr: 'Error: x\n    at f (/a/b.ts:1:2)\n' }, /stack trace/],
    ['a failure without output', { ...refused, stdout: '' }, /without JSON/],
    ['an unexpected error code', reported(1, { code: 'failed' }), /unexpected error code/],
    ['the exit code of another cause', reported(9, { code: 'unreachable' }), /wrong exit code/],
    ['a cause without a hint', reported(6, { code: 'unreachable', hint: '' }), /no hint/],
  ] as const)('is a problem for %s', (_, outcome, problem) => {
    expect(classify(outcome as Outcome)).toEqual({ problem: expect.stringMatching(problem) })
  })
})

function reported(exitCode: number, cause: object): Outcome {
  const stdout = error({ message: 'No answer.', hint: 'Wait.', ...cause })
  return { ...refused, exitCode, stdout }
}
