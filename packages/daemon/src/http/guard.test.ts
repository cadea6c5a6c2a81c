import { request } from 'node:http'
import { expect, test } from 'vitest'
import { readDaemonConfig } from '../config.ts'
import { useTestDaemon } from '../testing/test-daemon.ts'

async function requestStatus(port: number, headers: Record<string, string | string[]>) {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const asked = request({ host: '127.0.0.1', port, path: '/v1/models', headers }, (answer) => {
    answer.resume()
    resolve(answer.statusCode ?? 0)
  })
  asked.on('error', reject).end()
  return promise
}

test('on loopback, a request may have any key or no key, but not an empty one', async () => {
  const { port } = await useTestDaemon()
  expect(await requestStatus(port, {})).toBe(200)
  expect(await requestStatus(port, { authorization: 'Bearer x' })).toBe(200)
  expect(await requestStatus(port, { authorization: 'Bearer ' })).toBe(401)
  expect(await requestStatus(port, { authorization: '' })).toBe(401)
  expect(await requestStatus(port, { authorization: ['Bearer x', 'Bearer y'] })).toBe(401)
})

test('a key in x-api-key follows the same rules as one in Authorization, and must not differ from it', async () => {
  const { port } = await useTestDaemon()
  expect(await requestStatus(port, { 'x-api-key': 'x' })).toBe(200)
  expect(await requestStatus(port, { 'x-api-key': '' })).toBe(401)
  expect(await requestStatus(port, { 'x-api-key': ['x', 'y'] })).toBe(401)
  expect(await requestStatus(port, { 'x-api-key': 'x', authorization: 'Bearer x' })).toBe(200)
  expect(await requestStatus(port, { 'x-api-key': 'x', authorization: 'Bearer y' })).toBe(401)
  expect(await requestStatus(port, { 'x-api-key': 'x', authorization: 'Bearer ' })).toBe(401)
  const strict = await useTestDaemon({ apiKey: 'secret' })
  expect(await requestStatus(strict.port, { 'x-api-key': 'secret' })).toBe(200)
  expect(await requestStatus(strict.port, { 'x-api-key': 'wrong' })).toBe(401)
  const both = { 'x-api-key': 'wrong', authorization: 'Bearer secret' }
  expect(await requestStatus(strict.port, both)).toBe(401)
})

test('a daemon with a key requires it', async () => {
  const { port } = await useTestDaemon({ apiKey: 'secret' })
  expect(await requestStatus(port, {})).toBe(401)
  expect(await requestStatus(port, { authorization: 'Bearer wrong' })).toBe(401)
  expect(await requestStatus(port, { authorization: 'Bearer secret' })).toBe(200)
})

test('an error explains what is wrong with a key', async () => {
  const { url } = await useTestDaemon({ apiKey: 'secret' })
  const fetchRefusal = async (authorization?: string, at = url) => {
    const headers = authorization === undefined ? {} : { authorization }
    const answer = await fetch(`${at}/v1/models`, { headers })
    return ((await answer.json()) as { detail: string }).detail
  }
  expect(await fetchRefusal()).toBe('this daemon requires its API key')
  expect(await fetchRefusal('Bearer')).toBe(
    "the API key is empty: set this daemon's API key in the client",
  )
  const open = await useTestDaemon()
  expect(await fetchRefusal('Bearer ', open.url)).toBe(
    'the API key is empty: set any key, such as "any", in the client',
  )
  expect(await fetchRefusal('Bearer wrong')).toBe('this API key is wrong')
  expect(await fetchRefusal('Basic YTpi')).toBe('Authorization must be "Bearer <API key>"')
})

test('requests with an unknown origin or hostname are rejected', async () => {
  const { port } = await useTestDaemon({ origins: ['http://chat.lan:3000'] })
  expect(await requestStatus(port, { host: 'evil.example' })).toBe(403)
  expect(await requestStatus(port, { host: `localhost:${port}` })).toBe(200)
  const from = (origin: string) => requestStatus(port, { host: `localhost:${port}`, origin })
  expect(await from('https://evil.example')).toBe(403)
  expect(await from('null')).toBe(403)
  expect(await from(`http://localhost:${port}`)).toBe(200)
  expect(await from('http://chat.lan:3000')).toBe(200)
})

test('a key is required on addresses other than loopback', () => {
  const models = '/nowhere'
  expect(() => readDaemonConfig({}, { models, host: '0.0.0.0' })).toThrow('SHOAL_API_KEY')
  expect(readDaemonConfig({ SHOAL_API_KEY: 'k' }, { models, host: '0.0.0.0' }).apiKey).toBe('k')
  expect(readDaemonConfig({}, { models, host: '0.0.0.0', anyKey: true }).apiKey).toBeUndefined()
})
