import { AppError, type ErrorDetails } from '@shoal/core/errors'
import { ambiguousChoice } from '@shoal/model-file/choices'
import { ApiError, NetworkError } from '@shoal/protocol/client'
import { expect, test } from 'vitest'
import { toFailure } from './to-failure.ts'

const summarize = (error: unknown) => {
  const { message, hint, exitCode } = toFailure(error, undefined)
  return { message, hint, exitCode }
}

const system = (code: string, more = {}) => Object.assign(new Error(code), { code, ...more })

test('an error about a wrong hash has exit code 7 and shows both hashes', () => {
  const found = { expected: `9f3c${'0'.repeat(56)}b1e0`, actual: `41aa${'0'.repeat(56)}07d2` }
  const hashes = 'expected 9f3c…b1e0\ngot      41aa…07d2\n'
  const summarizeVerification = (message: string, details: ErrorDetails['verification_failed']) =>
    summarize(new AppError('verification_failed', message, details))
  const whole = 'tide.gguf does not match its SHA-256'
  expect(summarizeVerification(whole, { ...found, isDeleted: true })).toEqual({
    message: 'tide.gguf does not match its SHA-256.',
    hint: `${hashes}The damaged file was deleted. If the error persists, contact the publisher.`,
    exitCode: 7,
  })
  expect(summarizeVerification('wrong', { ...found, chunkIndex: 2 })).toEqual({
    message: 'Chunk 2 of the file does not match its SHA-256, even after several downloads.',
    hint: `${hashes}Verified data is kept. If the error persists, contact the publisher.`,
    exitCode: 7,
  })
})

test('an error about a file that changed on the registry does not claim that data was deleted', () => {
  const message = 'tide.gguf has changed on the registry since the pull'
  const found = { expected: `9f3c${'0'.repeat(60)}`, actual: `41aa${'0'.repeat(60)}` }
  expect(summarize(new AppError('verification_failed', message, found))).toEqual({
    message: `${message}.`,
    hint: 'expected 9f3c…0000\ngot      41aa…0000\nIf the error persists, contact the publisher.',
    exitCode: 7,
  })
  const { expected } = found
  expect(summarize(new AppError('verification_failed', 'a manifest', { expected })).hint).toBe(
    'If the error persists, contact the publisher.',
  )
})

test.each([
  [413, /^The registry's operator must allow larger requests/],
  [403, /again later\.\nIf the error persists, a server's clock may be wrong/],
  [404, /again later\.\nIf the error persists, the registry may have lost the file\.$/],
  [502, /again later\.$/],
])(
  'the advice for a file that is refused with status %i names only possible causes',
  (status, hint) => {
    const error = new AppError('bytes_refused', `a.test returned status ${status}`, { status })
    expect(summarize(error)).toEqual({
      message: `The file's data could not be transferred: a.test returned status ${status}.`,
      hint: expect.stringMatching(hint),
      exitCode: 13,
    })
  },
)

test("the response of a server in front of the registry is not called the registry's", () => {
  const refusal = (status: number) => new ApiError(status, { detail: 'a' }, undefined, true)
  expect(summarize(refusal(413)).hint).toMatch(/^The registry's operator must allow/)
  expect(summarize(refusal(502)).hint).toContain('the log of the server in front of it')
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

test('a host that is not this machine is not said to run nothing, and a failed DNS lookup is not an unknown host', () => {
  const network = { code: 'unreachable', host: 'models.test:8000' } as const
  const failed = (reason: 'refused' | 'dns', detail: string) =>
    summarize(new NetworkError({ ...network, reason, detail })).message
  expect(failed('refused', 'connect ECONNREFUSED 192.0.2.1:8000')).toBe(
    'models.test:8000 refused the connection.',
  )
  expect(failed('dns', 'getaddrinfo ENOTFOUND models.test')).toBe(
    'The host models.test was not found.',
  )
  expect(failed('dns', 'getaddrinfo EAI_AGAIN models.test')).toBe(
    'The DNS lookup of models.test failed.',
  )
})
