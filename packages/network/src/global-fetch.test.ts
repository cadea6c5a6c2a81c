import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { testAuthority, testCertificates } from '../../../testing/tls-certificates/index.ts'
import { openNetwork } from './dispatcher.ts'
import { useForFetch } from './global-fetch.ts'
import { directNetwork } from './settings.ts'
import { json, startProxy, startServer } from './testing/servers.ts'

test("Node's global fetch uses proxies and private authorities", async () => {
  const plain = await startServer((_, response) => json(response, { is: 'plain' }))
  const secure = await startServer(
    (_, response) => json(response, { is: 'secure' }),
    testCertificates.valid,
  )
  const proxy = await startProxy()
  const extraCa = readFileSync(testAuthority, 'utf8')
  const network = openNetwork({ ...directNetwork, httpProxy: proxy.url, extraCa })
  onTestFinished(() => network.destroy())
  useForFetch(network)
  const proxied = await fetch(`http://registry.test:${plain.port}/announce?port=1`)
  expect(await proxied.json()).toEqual({ is: 'plain' })
  const trusted = await fetch(`https://localhost:${secure.port}/`)
  expect(await trusted.json()).toEqual({ is: 'secure' })
  expect(proxy.asked).toEqual([`GET http://registry.test:${plain.port}/announce?port=1`])
})
