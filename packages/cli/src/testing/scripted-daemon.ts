/** An inference daemon with scripted responses. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

type Asked = { path: string; authorization: string | undefined; body: Record<string, unknown> }

type Script = {
  /** The daemon's models. Default: `shoal-nano`. */
  models?: string[]
  /** The events of an answer, in OpenAI's streaming format. If the function throws, the connection is closed. */
  answer?(asked: Asked): AsyncIterable<object> | Iterable<object>
  /** Responses by path. They replace the default responses. */
  at?: Record<string, { status?: number; body: object }>
}

/** A part of an answer's text. */
export const says = (content: string) => ({ choices: [{ index: 0, delta: { content } }] })
/** A part of the reasoning. */
export const thinks = (reasoning_content: string) => ({
  choices: [{ index: 0, delta: { reasoning_content } }],
})
export const ends = (finish_reason = 'stop') => ({
  choices: [{ index: 0, delta: {}, finish_reason }],
})
export const counts = {
  choices: [],
  usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
}

export const loadedNano = {
  name: 'shoal-nano',
  model: 'shoal-nano',
  details: { quantization_level: 'Q8_0' },
  context_length: 512,
  file_size_bytes: 973_440,
  memory_bytes: 62_000_000,
  requests: 0,
  loaded_at: '2026-01-31T12:00:00.000Z',
  expires_at: '2026-01-31T12:05:00.000Z',
  idle_seconds: 120,
}

export async function scriptedDaemon(script: Script = {}) {
  const {
    models = ['shoal-nano'],
    answer = () => [says('Hello!'), ends(), counts],
    at = {},
  } = script
  const asked: Asked[] = []

  async function respond(request: IncomingMessage, response: ServerResponse) {
    const path = decodeURIComponent(request.url ?? '/')
    const body = request.method === 'POST' ? await json(request) : {}
    const call = { path, authorization: request.headers.authorization, body: body as Asked['body'] }
    asked.push(call)
    const special = at[path]
    if (special) return send(response, special.body, special.status)
    if (path === '/v1/chat/completions') return await stream(response, answer(call))
    if (path === '/healthz') return send(response, { status: 'ok', pid: process.pid })
    if (path === '/api/ps') return send(response, { models: [loadedNano] })
    if (path === '/api/unload') return send(response, { model: call.body.model, unloaded: true })
    const model = path === '/api/load' ? call.body.model : path.replace('/v1/models/', '')
    if (models.includes(String(model))) return send(response, loadedNano)
    const message = `model '${model}' not found`
    const error = { message, code: 'model_not_found' }
    return send(response, { detail: message, error }, 404)
  }

  const server = createServer((request, response) => {
    respond(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    asked,
    /** The bodies of the chat requests that were received. */
    questions: () =>
      asked.filter(({ path }) => path === '/v1/chat/completions').map((one) => one.body),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function send(response: ServerResponse, body: object, status = 200) {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

async function stream(response: ServerResponse, events: AsyncIterable<object> | Iterable<object>) {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.flushHeaders()
  for await (const event of events) {
    if (response.destroyed) return
    response.write(`data: ${JSON.stringify(event)}\n\n`)
  }
  response.end('data: [DONE]\n\n')
}
