import { loopbackHosts, otherHosts } from '@shoal/core/testing'
import { expect, test } from 'vitest'
import { createSite } from './site.ts'

const inUrl = (host: string) => (/^[^[].*:/.test(host) ? `[${host}]` : host)

test('a request with any hostname of this machine is accepted, one with another is not', () => {
  const site = createSite({ baseUrl: 'https://models.example.net', allowedHosts: [] })
  for (const host of loopbackHosts) expect(site.isOurHost(`${inUrl(host)}:8000`), host).toBe(true)
  for (const host of otherHosts) expect(site.isOurHost(`${inUrl(host)}:8000`), host).toBe(false)
  expect(site.isOurHost('models.example.net')).toBe(true)
})
