import { lookup } from 'node:dns/promises'
import { isIPv6 } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { listen } from './listen.ts'
import { appOfTest } from './testing/server-of-test.ts'

test('a server on localhost can be reached at every loopback address', async () => {
  const { app } = appOfTest({ shortcut: () => undefined })
  app.get('/', async () => 'found')
  onTestFinished(() => app.close())
  const port = await listen(app, { host: 'localhost', port: 0 })
  for (const { address } of await lookup('localhost', { all: true })) {
    const host = isIPv6(address) ? `[${address}]` : address
    expect(await (await fetch(`http://${host}:${port}/`)).text()).toBe('found')
  }
})
