import { expect, test } from 'vitest'
import { type ApiRequest, type RegistryClient, registryClient } from './client.ts'
import * as endpoints from './endpoints.ts'
import { formatPath } from './format-path.ts'
import * as routes from './routes.ts'

const table = { ...routes }
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

test('every route has an endpoint with the same method and path', () => {
  const ofEndpoints = Object.fromEntries(
    Object.entries(endpoints).map(([name, { method, url }]) => [name, { method, url }]),
  )
  expect(ofEndpoints).toEqual(table)
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
