import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { directNetwork } from '@shoal/network'
import { openNetwork } from '@shoal/network/requests'
import { expect, onTestFinished, test, vi } from 'vitest'
import { RegistryWire } from './registry-wire.ts'

const pieceLength = 1000
const pieces = 4

test('a piece that is being received is withdrawn only when it has arrived', async () => {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const network = openNetwork(directNetwork, { connections: 1 })
  const wire = new RegistryWire([`http://127.0.0.1:${port}/file`], {
    ...{ pieces, pieceLength, network },
    fileSizeBytes: pieces * pieceLength,
  })
  onTestFinished(async () => {
    wire.destroy()
    await network.destroy()
    server.close()
  })
  const offered = new Set<number>()
  vi.spyOn(wire, 'have').mockImplementation((index) => offered.add(index))
  vi.spyOn(wire.lt_donthave, 'donthave').mockImplementation((index) => offered.delete(index))
  wire.emit('handshake', '00'.repeat(20))

  wire.offerOnly(() => true)
  expect([...offered]).toEqual([0, 1, 2, 3])
  const received = new Promise<number | undefined>((resolve) => {
    wire.emit('request', 1, 0, pieceLength, (_: Error | null, bytes?: Uint8Array) =>
      resolve(bytes?.length),
    )
  })
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse]
  wire.offerOnly(() => false)
  expect([...offered]).toEqual([1])

  response.writeHead(206, {
    'content-range': `bytes ${pieceLength}-${2 * pieceLength - 1}/${pieces * pieceLength}`,
  })
  response.end(Buffer.alloc(pieceLength))
  expect(await received).toBe(pieceLength)
  wire.offerOnly(() => false)
  expect([...offered]).toEqual([])
})
