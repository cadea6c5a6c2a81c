import { expect, test } from 'vitest'
import { to } from './client/call.ts'
import {
  type ApiRequest,
  type Model,
  openConnection,
  type RegistryClient,
  registryClient,
} from './client.ts'
import * as endpoints from './endpoints.ts'
import { formatPath } from './format-path.ts'
import { namedSchemas } from './index.ts'
import type { Route } from './routes/route.ts'
import * as routes from './routes.ts'

const table = { ...routes }
const allEndpoints = { ...endpoints }
type RouteName = keyof typeof table
type Call = Extract<keyof RegistryClient, RouteName>

/** Endpoints without a client call. */
const uncalled = {
  toggleLike: 'a retry would undo the toggle: the client uses setLike',
  getTorrentByToken: 'its URL is in the response to getDownload',
  getChunk: 'a web seed: its URL is in the torrent, and download code composes it from the hash',
  getChunkByToken: 'its URL is in the response to getDownload',
} satisfies Record<Exclude<RouteName, Call>, string>

/** Client members that do not call an endpoint. */
const others = ['baseUrl', 'with']

test('every route has an endpoint', () => {
  expect(Object.keys(endpoints).toSorted()).toEqual(Object.keys(table).toSorted())
  for (const [name, route] of Object.entries(table)) {
    expect(Object.entries(endpoints)).toContainEqual([name, expect.objectContaining(route)])
  }
})

const marked = Object.entries<Route | typeof routes.toggleLike>(table).flatMap(([name, route]) =>
  'marker' in route ? [{ name, ...route }] : [],
)

test.each(marked)('every response to $name has the member $marker', ({ name, marker, isList }) => {
  const { schema } = allEndpoints[name as RouteName]
  const answers: object[] = Object.values(schema.response)
  const items = answers.map((answer) => ('items' in answer ? Object(answer.items) : answer))
  expect(answers.map((answer) => 'items' in answer)).toEqual(answers.map(() => isList === true))
  for (const { $ref } of items) {
    const named = namedSchemas.find(({ $id }) => $ref === `${$id}#`)
    expect(named).toMatchObject({ required: expect.arrayContaining([marker]) })
  }
})

test.each(Object.entries(endpoints))(
  'the parameters in the path of %s have schemas',
  (_, { url, schema }) => {
    const described = 'params' in schema ? Object.keys(schema.params.properties) : []
    expect(described).toEqual([...url.matchAll(/:(\w+)/g)].map(([, name]) => name))
  },
)

test('every endpoint has a client call, except those that need none', () => {
  const client = registryClient({ baseUrl: 'http://localhost' })
  const calls = Object.keys(client).filter((name) => !others.includes(name))
  expect([...calls, ...Object.keys(uncalled)].toSorted()).toEqual(Object.keys(table).toSorted())
})

const called = Object.keys(table).filter((name): name is Call => !Object.hasOwn(uncalled, name))

test.each(called)('%s calls its own endpoint, with its parameters encoded', async (name) => {
  const asked: ApiRequest[] = []
  const client = registryClient({
    baseUrl: 'http://localhost',
    async transport(request) {
      asked.push(request)
      return { status: 200, headers: new Headers(), body: new TextEncoder().encode('[]') }
    },
  })
  const call = client[name] as (...given: unknown[]) => Promise<unknown>
  // Calls take the path parameters first, then an optional body or query.
  await call('a/b', 'ü?')
  const expected = ['a%2Fb', '%C3%BC%3F']
  const path = table[name].url.replace(/:\w+/g, () => expected.shift() ?? '')
  const { pathname } = new URL(asked[0]?.url ?? '')
  expect([asked[0]?.method, pathname]).toEqual([table[name].method, path])
})

test('path parameters become segments', () => {
  expect(formatPath('/settings/:section?', { section: 'keys' })).toBe('/settings/keys')
  expect(formatPath(routes.getStats.url)).toBe('/v1/stats')
  expect(formatPath(routes.getFile.url, { id: 'tide', file_id: 'x y' })).toBe(
    '/v1/models/tide/files/x%20y',
  )
  // @ts-expect-error: a parameter is missing
  formatPath(routes.getFile.url, { id: 'tide' })
  // @ts-expect-error: the path has parameters
  formatPath(routes.getModel.url)
})

test('the types of a call are those of the endpoint', () => {
  const { json, text, nothing } = openConnection({ baseUrl: 'http://localhost' })
  const tide = { id: 'tide' }
  const calls = {
    right: (): Promise<Model[]> => json(to(routes.listModels), { query: { limit: 5 } }),
    // @ts-expect-error: the response is a list of models
    answer: (): Promise<Model> => json(to(routes.listModels)),
    // @ts-expect-error: a model has no name in its request body
    body: () => json(to(routes.createModel), { body: { display_name: 'Tide' } }),
    // @ts-expect-error: the request body is missing
    noBody: () => nothing(to(routes.setLike, tide)),
    // @ts-expect-error: the endpoint does not take a request body
    excessBody: () => json(to(routes.getStats), { body: {} }),
    // @ts-expect-error: an unknown query parameter
    query: () => json(to(routes.listModels), { query: { size: 5 } }),
    // @ts-expect-error: the response is not empty
    ignored: () => nothing(to(routes.getModel, tide)),
    // @ts-expect-error: the response is HTML
    parsed: () => json(to(routes.getCard, tide)),
    // @ts-expect-error: the response is JSON
    unparsed: () => text(to(routes.getModel, tide)),
    // @ts-expect-error: there is no such endpoint
    unknown: () => json(to({ method: 'GET', url: '/v1/fish' } as const)),
  }
  expect(Object.keys(calls)).toHaveLength(10)
})
