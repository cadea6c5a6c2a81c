import type { ApiAnswer, Transport } from '@shoal/protocol/client'

/** A call that the registry has received. */
export type Request = { method: string; path: string; query: URLSearchParams; body: unknown }
type Answer = { status: number; headers?: Record<string, string>; body?: unknown }
type Script = (request: Request) => Answer | Promise<Answer>

export type ScriptedRegistry = ReturnType<typeof scriptedRegistry>

/** Returns a script that answers with a value as JSON, or with a string as text. */
export const ok = (body: unknown) => () => ({ status: 200, body })

/** Returns a script that answers with an error. */
export const problem =
  (status: number, detail: string, more: object = {}) =>
  () => ({
    status,
    body: { detail, ...more },
  })

/**
 * A registry that answers calls as a test tells it to. The keys of `scripts` are methods and paths, such as
 * `GET /v1/models`. A call without a script is answered with a 501, so that the page under test shows an error.
 */
export function scriptedRegistry(scripts: Record<string, Script>) {
  const known = new Map(Object.entries(scripts))
  const requests: Request[] = []
  const transport: Transport = async ({ method, url, body, signal }) => {
    const { pathname: path, searchParams: query } = new URL(url, 'http://registry.test')
    const request = { method, path, query, body: body === undefined ? undefined : JSON.parse(body) }
    requests.push(request)
    const script = known.get(`${method} ${path}`) ?? noScript
    const answer = await script(request)
    signal?.throwIfAborted()
    return toApiAnswer(answer)
  }
  return {
    transport,
    /** The calls so far. */
    requests,
    /** Changes how a call is answered. */
    answer: (call: string, script: Script) => void known.set(call, script),
    /** Answers a call as it was answered at first. */
    restore: (call: string) => void known.set(call, scripts[call] ?? noScript),
    /** Returns the bodies of the calls with this method and path. */
    bodies: (call: string) =>
      requests.filter(({ method, path }) => `${method} ${path}` === call).map(({ body }) => body),
  }
}

const noScript: Script = ({ method, path }) => problem(501, `no script for ${method} ${path}`)()

function toApiAnswer({ status, headers = {}, body }: Answer): ApiAnswer {
  const text = typeof body === 'string' ? body : JSON.stringify(body ?? null)
  return {
    status,
    headers: { get: (name) => headers[name] ?? null },
    body: body === undefined ? new Uint8Array() : new TextEncoder().encode(text),
  }
}
