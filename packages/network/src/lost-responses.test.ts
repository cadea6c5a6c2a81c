import { endpoints, routes } from '@shoal/protocol'
import {
  type ApiRequest,
  NetworkError,
  type RegistryClient,
  registryClient,
} from '@shoal/protocol/client'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openNetwork } from './dispatcher.ts'
import { httpTransport } from './http-transport.ts'
import { directNetwork } from './settings.ts'
import { reset, status } from './testing/scripted.ts'
import { type Handler, json, startServer } from './testing/servers.ts'

const all = { ...endpoints }
const allRoutes = { ...routes }
type CallName = Extract<keyof RegistryClient, keyof typeof all>

/** The calls that are sent once, with the reason. */
const sentOnce: Partial<Record<CallName, string>> = {
  createModel: 'the name is taken by the first request',
  updateModel: 'the first request may have renamed the model',
  register: 'the username is taken by the first request',
  login: 'each request starts a session, and counts as an attempt',
  logout: 'the first request makes the token invalid',
  createApiKey: 'each request creates a key',
  createUser: 'the username is taken by the first request',
  updateUser: 'PATCH is not idempotent',
  resetPassword: 'each request sets another password',
  createInvitation: 'each request creates an invitation',
}

const client = registryClient({ baseUrl: 'http://localhost' })
const names = Object.keys(all).filter((name): name is CallName => name in client)

const requestOf = (name: CallName) =>
  `${allRoutes[name].method} ${allRoutes[name].url.replaceAll(/:\w+/g, 'x')}`

/** Responds as the endpoint does: with the member by which the transport recognizes a registry. */
const respond =
  (name: CallName): Handler =>
  (_, response) => {
    const { marker = 'id' }: NonNullable<ApiRequest['route']> = allRoutes[name]
    const schemas: Record<string, object> = all[name].schema.response
    const [schema = {}] = Object.values(schemas)
    const type = 'type' in schema ? schema.type : 'object'
    if (type === 'null') response.writeHead(204).end()
    else if (name === 'getTorrent') response.writeHead(200).end('de')
    else if (type === 'string') response.writeHead(200, { 'content-type': 'text/html' }).end('<p>')
    else json(response, type === 'array' ? [{ [marker]: '' }] : { [marker]: '' })
  }

/**
 * Makes calls at the same time to a server that handles the requests of each call with one of the handlers after
 * another, and then as the endpoint does. Returns the result and the number of requests of each call.
 */
async function callEach(calls: readonly CallName[], ...handlers: Handler[]) {
  const counts = new Map<string, number>()
  const { port } = await startServer((request, response) => {
    const asked = `${request.method} ${request.url}`
    const count = counts.get(asked) ?? 0
    counts.set(asked, count + 1)
    for (const name of calls.filter((one) => requestOf(one) === asked)) {
      const handle = handlers[count] ?? respond(name)
      request.resume().once('end', () => handle(request, response))
    }
  })
  const network = openNetwork(directNetwork)
  onTestFinished(() => network.destroy())
  const registry = registryClient({
    baseUrl: `http://127.0.0.1:${port}`,
    transport: httpTransport(network),
    retry: { firstContactMs: 60_000, giveUpMs: 60_000 },
  })
  const results = calls.map(async (name) => {
    const send = registry[name] as (...given: unknown[]) => Promise<unknown>
    const ids = allRoutes[name].url.match(/:\w+/g)?.map(() => 'x') ?? []
    const body = 'body' in all[name].schema ? [[]] : []
    const result = await send(...ids, ...body).then(
      () => 'success',
      (error: unknown) => error,
    )
    return [name, { result, requests: counts.get(requestOf(name)) }] as const
  })
  return Object.fromEntries(await Promise.all(results))
}

test('a call whose response is lost is repeated if that has no further effect, and fails otherwise', async () => {
  const lost = { failure: expect.objectContaining({ code: 'unreachable', reason: 'reset' }) }
  const failed = { result: expect.toSatisfy((error) => error instanceof NetworkError), requests: 1 }
  const results = await callEach(names, reset)
  expect(results).toEqual(
    Object.fromEntries(
      names.map((name) => [name, name in sentOnce ? failed : { result: 'success', requests: 2 }]),
    ),
  )
  for (const name of Object.keys(sentOnce)) expect(results[name]?.result).toMatchObject(lost)
})

test('every call is repeated after a response that it was not carried out', async () => {
  expect(await callEach(names, status(503, { 'retry-after': '0' }))).toEqual(
    Object.fromEntries(names.map((name) => [name, { result: 'success', requests: 2 }])),
  )
})

describe('a DELETE request', () => {
  const renamed: Handler = (_, response) =>
    json(response, { detail: 'renamed', code: 'model_renamed' }, 404)

  test.each([
    ['reset', reset],
    ['502', status(502)],
  ])(
    'whose response was lost (%s) succeeds if there is nothing left to delete',
    async (_, lost) => {
      const { deleteFile } = await callEach(['deleteFile'], lost, lost, status(404))
      expect(deleteFile).toEqual({ result: 'success', requests: 3 })
    },
  )

  test.each([
    ['at the first attempt', status(404), status(404)],
    ['after an attempt that was not carried out', status(503, { 'retry-after': '0' }), status(404)],
    ['because the model has another name', reset, renamed],
  ])('fails if there is nothing to delete %s', async (_, ...handlers) => {
    const { deleteModel } = await callEach(['deleteModel'], ...handlers)
    expect(deleteModel?.result).toMatchObject({ status: 404 })
  })
})
