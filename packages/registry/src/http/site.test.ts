import { loopbackHosts, otherHosts } from '@shoal/core/testing'
import { expect, test } from 'vitest'
import { createSite } from './site.ts'

const inUrl = (host: string) => (/^[^[].*:/.test(host) ? `[${host}]` : host)

test('requests for any loopback hostname or the base URL are accepted; others are not', () => {
  const site = createSite({ baseUrl: 'https://models.example.net', allowedHosts: [] })
  for (const host of loopbackHosts) expect(site.isOurHost(`${inUrl(host)}:8000`), host).toBe(true)
  for (const host of otherHosts) expect(site.isOurHost(`${inUrl(host)}:8000`), host).toBe(false)
  expect(site.isOurHost('models.example.net')).toBe(true)
})
