import { loopbackHosts, otherHosts } from '@shoal/core/testing'
import { expect, test } from 'vitest'
import { proxyFor } from './proxy-for.ts'

const proxies = { httpProxy: 'http://proxy:1', httpsProxy: 'http://proxy:2', noProxy: '' }
const isProxied = (address: string, noProxy = '') =>
  proxyFor(new URL(address), { ...proxies, noProxy }) !== undefined

test('each scheme has its own proxy', () => {
  expect(proxyFor(new URL('http://registry.test'), proxies)).toBe('http://proxy:1')
  expect(proxyFor(new URL('https://registry.test'), proxies)).toBe('http://proxy:2')
  const none = { httpProxy: undefined, httpsProxy: undefined, noProxy: '' }
  expect(proxyFor(new URL('https://registry.test'), none)).toBeUndefined()
})

test.each([
  'http://localhost:8000',
  'http://LOCALHOST.:8000',
  'http://registry.localhost',
  'http://127.0.0.1',
  'http://127.1.2.3:80',
  'https://[::1]:8000',
  'http://[::ffff:127.0.0.1]',
])('%s is this machine, which is never reached through a proxy', (address) => {
  expect(isProxied(address)).toBe(false)
})

test.each([
  ['http://a.test', '*'],
  ['http://a.test', 'b.test, a.test'],
  ['http://a.test', 'b.test a.test'],
  ['http://A.TEST', 'a.test'],
  ['http://a.test', 'A.Test.'],
  ['http://x.a.test', 'a.test'],
  ['http://x.a.test', '.a.test'],
  ['http://x.a.test', '*.a.test'],
  ['http://a.test:8000', 'a.test:8000'],
  ['https://a.test', 'a.test:443'],
  ['http://10.1.2.3', '10.1.2.3'],
  ['http://10.1.2.3', '10.0.0.0/8'],
  ['http://[fd00::7]:80', 'fd00::7'],
  ['http://[fd00::7]:8000', '[fd00::7]:8000'],
  ['http://[fd00::7]', 'fd00::/8'],
])('%s bypasses the proxy with NO_PROXY=%s', (address, noProxy) => {
  expect(isProxied(address, noProxy)).toBe(false)
})

test.each([
  ['http://a.test', ''],
  ['http://ba.test', 'a.test'],
  ['http://a.test.example', 'a.test'],
  ['http://a.test:8000', 'a.test:8001'],
  ['http://a.test', 'a.test:443'],
  ['http://11.1.2.3', '10.0.0.0/8'],
  ['http://11.1.2.3', '10.0.0.0/99'],
  ['http://110.1.2.3', '0.1.2.3'],
  ['http://[fe00::7]', 'fd00::/8'],
  ['http://a.test', 'fd00::/8'],
])('%s goes through the proxy with NO_PROXY=%s', (address, noProxy) => {
  expect(isProxied(address, noProxy)).toBe(true)
})

test('only requests to this machine bypass the proxy', () => {
  const inUrl = (host: string) => `http://${/^[^[].*:/.test(host) ? `[${host}]` : host}:8000`
  for (const host of loopbackHosts) expect(isProxied(inUrl(host)), host).toBe(false)
  for (const host of otherHosts) expect(isProxied(inUrl(host)), host).toBe(true)
})
