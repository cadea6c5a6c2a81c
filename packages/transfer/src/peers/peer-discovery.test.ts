import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDirectory } from '../testing/pull-scene.ts'
import { startPeerDiscovery } from './peer-discovery.ts'

test('a pull takes over the port and the peer ID of an earlier one that was killed, unless the port is in use', async () => {
  const contactPath = join(temporaryDirectory(), 'tide.gguf.contact')
  const start = async () => {
    const discovery = await startPeerDiscovery({
      tracker: 'http://127.0.0.1/announce',
      infoHash: '00ff'.repeat(10),
      leftBytes: () => 1,
      host: '127.0.0.1',
      contactPath,
      isLocalDiscoveryOn: false,
      fetch: async () => ({ status: 200, body: Buffer.from('d5:peers0:e') }),
    })
    const { port, peerId } = await discovery.handOver() // without a final announce, as if it were killed
    return { port, peerId }
  }
  const killed = await start()
  expect(existsSync(contactPath)).toBe(true)
  expect(await start()).toEqual(killed)

  const other = createServer().listen(killed.port, '127.0.0.1')
  onTestFinished(() => void other.close())
  await once(other, 'listening')
  const elsewhere = await start()
  expect(elsewhere.port).not.toBe(killed.port)
  expect(elsewhere.peerId).not.toBe(killed.peerId)
})
