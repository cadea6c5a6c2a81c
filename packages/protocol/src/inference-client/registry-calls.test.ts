import { expect, test } from 'vitest'
import { DaemonError, DaemonGoneError, inferenceClient } from './inference-client.ts'

const progress = (completed: number) => ({
  status: 'pulling aaaa',
  digest: 'sha256:aaaa',
  completed,
  total: 10,
})

/** Pulls a model from a daemon that sends this text in chunks of three bytes. Returns the progress and the error. */
async function pull(text: string, breaks?: Error) {
  const sent: unknown[] = []
  async function* body() {
    const bytes = new TextEncoder().encode(text)
    for (let at = 0; at < bytes.length; at += 3) yield bytes.subarray(at, at + 3)
    if (breaks) throw breaks
  }
  const daemon = inferenceClient({
    url: 'http://localhost:11434',
    async send(request) {
      sent.push(request)
      return { status: 200, header: () => null, body: body() }
    },
  })
  const steps: number[] = []
  const reading = (async () => {
    for await (const { completed } of daemon.pull('http://gpubox/tide', { allowUnknown: true })) {
      steps.push(completed)
    }
  })()
  const error = await reading.then(
    () => undefined,
    (caught: unknown) => caught,
  )
  return { steps, error, sent }
}

const lines = (...all: object[]) => all.map((line) => `${JSON.stringify(line)}\n`).join('')
const started = { status: 'pulling manifest' }

test('the progress of a pull is yielded, until the pull succeeds', async () => {
  const text = lines(started, progress(3), progress(10), { status: 'success' })
  const { steps, error, sent } = await pull(text)
  expect({ steps, error }).toEqual({ steps: [3, 10], error: undefined })
  const body = JSON.stringify({ model: 'http://gpubox/tide', allow_unknown_registry: true })
  expect(sent).toMatchObject([{ method: 'POST', path: '/api/pull', body }])
})

test('an error in the progress is thrown with its code', async () => {
  const text = lines(started, progress(3), { error: 'the disk is full', code: 'no_room' })
  const { steps, error } = await pull(text)
  expect(steps).toEqual([3])
  expect(error).toBeInstanceOf(DaemonError)
  expect(error).toMatchObject({ message: 'the disk is full', details: { reason: 'no_room' } })
})

test.each([
  ['ends before the pull has succeeded', lines(progress(3)), undefined],
  ['breaks', lines(progress(3)), new Error('socket hang up')],
  ['is cut off within a line', `${lines(progress(3))}{"status": "succ`, undefined],
])('if the response %s, the daemon is gone', async (_, text, breaks) => {
  const { steps, error } = await pull(text, breaks)
  expect(steps).toEqual([3])
  expect(error).toBeInstanceOf(DaemonGoneError)
})
