import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  DaemonError,
  DaemonGoneError,
  fetchInference,
  type InferenceTransport,
  inferenceClient,
} from '@shoal/protocol/inference-client'
import { describe, expect, onTestFinished, test } from 'vitest'
import { daemonTransport } from './daemon-transport.ts'

type Respond = (answer: ServerResponse, request: IncomingMessage) => void

const request = { model: 'tide', messages: [{ role: 'user' as const, content: 'Hi' }] }
const says = 'data: {"choices":[{"delta":{"content":"Hel"}}]}\n\n'
const ends = 'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
const never = () => new AbortController().signal

// The transports of the CLI and of the chat page, in this order.
describe.each<[string, (url: string) => InferenceTransport]>([
  ['node:http', (url) => daemonTransport({ url, apiKey: undefined })],
  ['fetch', (url) => fetchInference(url)],
])('a client over %s', (_, transportTo) => {
  async function createClient(respond: Respond, apiKey?: string) {
    const server = createServer((incoming, answer) => respond(answer, incoming))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const close = () => {
      server.closeAllConnections()
      server.close()
    }
    onTestFinished(close)
    const { port } = server.address() as AddressInfo
    const client = inferenceClient(transportTo(`http://127.0.0.1:${port}`), () => apiKey)
    return { client, close }
  }

  test('sends the key, and receives the parts of an answer as they arrive', async () => {
    const asked = Promise.withResolvers<IncomingMessage>()
    const goOn = Promise.withResolvers<void>()
    const { client } = await createClient(async (answer, incoming) => {
      asked.resolve(incoming)
      answer.writeHead(200, { 'content-type': 'text/event-stream' }).write(says)
      await goOn.promise
      answer.end(ends)
    }, 'secret')
    const steps = client.chat(request, never())
    expect((await steps.next()).value).toEqual({ content: 'Hel', reasoning: '' })
    goOn.resolve()
    expect((await steps.next()).value).toEqual({ finishReason: 'stop', usage: undefined })
    expect((await steps.next()).done).toBe(true)
    const { method, url, headers } = await asked.promise
    expect({ method, url }).toEqual({ method: 'POST', url: '/v1/chat/completions' })
    expect(headers).toMatchObject({
      authorization: 'Bearer secret',
      'content-type': 'application/json',
    })
  })

  test('receives an error response with its code and retry time', async () => {
    const { client } = await createClient((answer) => {
      const error = { message: 'the queue is full', code: 'queue_full' }
      answer.writeHead(429, { 'retry-after': '7' }).end(JSON.stringify({ detail: 'full', error }))
    })
    const error = await client.listLoaded().catch((one: unknown) => one)
    expect(error).toBeInstanceOf(DaemonError)
    expect(error).toMatchObject({
      message: 'the queue is full',
      details: { status: 429, reason: 'queue_full', retryAfterSeconds: 7 },
    })
  })

  test('if the daemon is not running, the error states that no response had begun', async () => {
    const { client, close } = await createClient(() => undefined)
    close()
    const error = await client.listLoaded().catch((one: unknown) => one)
    expect(error).toBeInstanceOf(DaemonGoneError)
    expect(error).toMatchObject({ details: { url: client.url, hadBegun: false } })
  })

  test.each<[string, Respond]>([
    ['a connection that breaks', (answer) => answer.write(says, () => answer.destroy())],
    ['a response that is cut off', (answer) => answer.end(says)],
    ['an event that is not JSON', (answer) => answer.end(`${says}data: <html>\n\n`)],
  ])('%s counts as a daemon lost during a response', async (_cause, respond) => {
    const { client } = await createClient((answer) => {
      answer.writeHead(200, { 'content-type': 'text/event-stream' })
      respond(answer, answer.req)
    })
    const steps = client.chat(request, never())
    expect((await steps.next()).value).toEqual({ content: 'Hel', reasoning: '' })
    const error = await steps.next().catch((one: unknown) => one)
    expect(error).toBeInstanceOf(DaemonGoneError)
    expect(error).toMatchObject({ details: { hadBegun: true } })
  })

  test('a response that is not JSON counts as a lost daemon', async () => {
    const { client } = await createClient((answer) => answer.end('<html>'))
    const error = await client.listLoaded().catch((one: unknown) => one)
    expect(error).toBeInstanceOf(DaemonGoneError)
  })

  test('leaving the loop over an answer cancels the request', async () => {
    const closed = Promise.withResolvers<void>()
    const { client } = await createClient((answer) => {
      answer.on('close', () => closed.resolve())
      answer.writeHead(200, { 'content-type': 'text/event-stream' }).write(says)
    })
    for await (const _part of client.chat(request, never())) break
    await closed.promise
  })

  test("aborting the signal, before or after the headers, ends the response with the signal's reason", async () => {
    const stop = new AbortController()
    const { client } = await createClient((answer) => {
      answer.writeHead(200, { 'content-type': 'text/event-stream' }).write(says)
    })
    const steps = client.chat(request, stop.signal)
    await steps.next()
    const next = steps.next()
    stop.abort(new Error('stopped by the user'))
    await expect(next).rejects.toThrow('stopped by the user')

    const early = new AbortController()
    const { client: silent } = await createClient((_answer, incoming) => {
      incoming.resume()
      void once(incoming, 'end').then(() => early.abort(new Error('aborted before the headers')))
    })
    await expect(silent.chat(request, early.signal).next()).rejects.toThrow(
      'aborted before the headers',
    )
  })
})
