import { expect, test } from 'vitest'
import { reachOfHost } from './reach-of-host.ts'

test.each([
  ['localhost', 'loopback'],
  ['shoal.localhost.', 'loopback'],
  ['127.0.0.1', 'loopback'],
  ['0.0.0.0', 'loopback'],
  ['[::]', 'loopback'],
  ['[::1]', 'loopback'],
  ['[::ffff:7f00:1]', 'loopback'],
  ['192.168.1.1', 'private'],
  ['169.254.169.254', 'private'],
  ['[fd00::1]', 'private'],
  ['gpubox', 'private'],
  ['nas.local', 'private'],
  ['nas.local.', 'private'],
  ['93.184.215.14', 'public'],
  ['models.example.org', 'public'],
  ['xn--e1awd7f.example', 'public'],
])('%s is %s', (hostname, reach) => {
  expect(reachOfHost(hostname)).toBe(reach)
})
