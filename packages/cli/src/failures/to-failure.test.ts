import { AppError } from '@shoal/core/errors'
import { ambiguousChoice } from '@shoal/model-file/choices'
import { expect, test } from 'vitest'
import { toFailure } from './to-failure.ts'

const summarize = (error: unknown) => {
  const { message, hint, exitCode } = toFailure(error, undefined)
  return { message, hint, exitCode }
}

const system = (code: string, more = {}) => Object.assign(new Error(code), { code, ...more })

test('an error about a wrong hash has exit code 7 and shows both hashes', () => {
  const found = { expected: `9f3c${'0'.repeat(56)}b1e0`, actual: `41aa${'0'.repeat(56)}07d2` }
  expect(summarize(new AppError('verification_failed', 'wrong', found))).toEqual({
    message: 'The downloaded file does not match its SHA-256.',
    hint:
      'expected 9f3c…b1e0\ngot      41aa…07d2\n' +
      'The damaged file was removed. If the error persists, contact the publisher.',
    exitCode: 7,
  })
  expect(
    summarize(new AppError('verification_failed', 'wrong', { ...found, chunkIndex: 2 })).message,
  ).toContain('Chunk 3 of the file')
})

test('an error about a full disk has exit code 8 and shows how much space is needed', () => {
  const error = new AppError('no_room', 'somewhere', { neededBytes: 6.6e9, freeBytes: 1.2e9 })
  expect(summarize(error)).toMatchObject({ exitCode: 8 })
  expect(summarize(error).hint).toContain('6.60 GB needed, 1.20 GB free.')
  expect(summarize(system('ENOSPC'))).toMatchObject({ exitCode: 8 })
})

test('an error about an ambiguous quantization has exit code 2 and lists the files', () => {
  expect(summarize(ambiguousChoice('Q4_0', ['a-Q4_0', 'b-Q4_0']))).toEqual({
    message: 'Several files match Q4_0.',
    hint: 'Choose one of a-Q4_0, b-Q4_0.',
    exitCode: 2,
  })
})

test('other errors become failures of one sentence', () => {
  expect(
    summarize(
      new AppError('file_in_the_way', 'x.gguf already exists and is not the file to pull', {
        path: 'x.gguf',
      }),
    ),
  ).toEqual({
    message: 'x.gguf already exists and is not the file to pull.',
    hint: 'Move the existing file, or choose another destination with --output.',
    exitCode: 1,
  })
  expect(summarize(system('EADDRINUSE', { port: 8000 })).message).toBe(
    'Port 8000 is in use by another program.',
  )
  expect(summarize(new DOMException('SIGINT', 'AbortError'))).toMatchObject({ exitCode: 130 })
  expect(summarize('a word')).toMatchObject({ message: 'a word', exitCode: 1 })
})
