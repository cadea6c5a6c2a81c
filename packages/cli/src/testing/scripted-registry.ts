/** A registry with scripted responses. */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

export type ScriptedAnswer = { status?: number; body?: unknown; headers?: Record<string, string> }

export type AskedFor = {
  method: string
  path: string
  query: URLSearchParams
  authorization: string | undefined
  body: unknown
}

/** The responses to a request such as `GET /v1/models`, in order; the last one is repeated. */
export type Script = Record<
  string,
  ScriptedAnswer | ScriptedAnswer[] | ((asked: AskedFor) => ScriptedAnswer)
>

export async function scriptedRegistry(script: Script) {
  const asked: AskedFor[] = []
  const times = new Map<string, number>()
  const server = createServer(async (request, response) => {
    const call = await readCall(request)
    asked.push(call)
    const { status = 200, body, headers } = answerTo(call)
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(body === undefined ? '' : JSON.stringify(body))
  })

  function answerTo(call: AskedFor): ScriptedAnswer {
    const key = `${call.method} ${call.path}`
    const scripted = script[key] ?? { status: 404, body: { detail: `nothing at ${key}` } }
    if (typeof scripted === 'function') return scripted(call)
    if (!Array.isArray(scripted)) return scripted
    const time = times.get(key) ?? 0
    times.set(key, time + 1)
    return scripted[Math.min(time, scripted.length - 1)] ?? {}
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    address: `http://127.0.0.1:${port}`,
    label: `127.0.0.1:${port}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function readCall(request: IncomingMessage): Promise<AskedFor> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://registry')
  const hasBody = request.headers['content-type'] === 'application/json'
  return {
    method: request.method ?? 'GET',
    path: pathname,
    query: searchParams,
    authorization: request.headers.authorization,
    body: hasBody ? await json(request) : undefined,
  }
}
