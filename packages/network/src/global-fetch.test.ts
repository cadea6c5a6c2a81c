import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { testAuthority, testCertificates } from '../../../testing/tls-certificates/index.ts'
import { type Network, openNetwork } from './dispatcher.ts'
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
  const endUse = useForFetch(network)
  onTestFinished(endUse)
  const proxied = await fetch(`http://registry.test:${plain.port}/announce?port=1`)
  expect(await proxied.json()).toEqual({ is: 'plain' })
  const trusted = await fetch(`https://localhost:${secure.port}/`)
  expect(await trusted.json()).toEqual({ is: 'secure' })
  expect(proxy.asked).toEqual([`GET http://registry.test:${plain.port}/announce?port=1`])
})

test('after the use of a network has ended, fetch uses the one before, or none', async () => {
  const { port } = await startServer((_, response) => json(response, {}))
  const proxies = [await startProxy(), await startProxy()] as const
  const [first, second] = proxies.map(({ url }) =>
    openNetwork({ ...directNetwork, httpProxy: url }),
  ) as [Network, Network]
  const countProxied = async () => {
    await (await fetch(`http://registry.test:${port}/`)).text()
    return proxies.map(({ asked }) => asked.length)
  }
  const endFirst = useForFetch(first)
  const endSecond = useForFetch(second)
  expect(await countProxied()).toEqual([0, 1])
  endSecond()
  await second.destroy()
  expect(await countProxied()).toEqual([1, 1])
  endFirst()
  await first.destroy()
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).json()).toEqual({})
})
