import { Duplex } from 'node:stream'
import { expect, test } from 'vitest'
import { answerBrokenRequest } from './broken-requests.ts'

test('a request that takes too long to arrive gets a 408', async () => {
  const answer: Buffer[] = []
  const socket = new Duplex({
    read: () => undefined,
    write(chunk, _encoding, done) {
      answer.push(chunk)
      done()
    },
  })
  const timeout = Object.assign(new Error('too slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
  answerBrokenRequest(timeout, socket, {
    makeBody: (status, message) => ({ error: { status, message } }),
    timeoutMessage: 'the request took too long',
  })
  const [head, body = ''] = Buffer.concat(answer).toString().split('\r\n\r\n')
  expect(head).toMatch(/^HTTP\/1\.1 408 /)
  const error = { status: 408, message: 'the request took too long' }
  expect(JSON.parse(body)).toEqual({ error })
})
