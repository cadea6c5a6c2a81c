import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { directNetwork } from '@shoal/network'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDirectory } from '../testing/pull-scene.ts'
import { swarmScene } from '../testing/swarm-scene.ts'
import { mebibyte, syntheticFile } from '../testing/synthetic-file.ts'
import { joinSwarm } from './swarm-client.ts'
import type { FromSwarm } from './swarm-messages.ts'

const file = syntheticFile(mebibyte, mebibyte)

/** Somebody who joins as `peerId` on `port`, and where they listen then. */
async function portAfterJoining(port: number, peerId: string) {
  const { origin, tracker } = await swarmScene(file)
  const path = join(temporaryDirectory(), 'model.gguf.part')
  writeFileSync(path, Buffer.alloc(file.bytes.length))
  const told: FromSwarm[] = []
  const announced = once(tracker, 'start')
  const swarm = await joinSwarm(
    {
      network: directNetwork,
      path,
      fileSizeBytes: file.bytes.length,
      torrent: origin.swarm?.torrent ?? Buffer.alloc(0),
      host: '127.0.0.1',
      isLocalDiscoveryOn: false,
      downloadLimit: undefined,
      uploadLimit: undefined,
    },
    { port, peerId, peers: [] },
    (message) => told.push(message),
  )
  onTestFinished(() => swarm.close())
  await announced
  const peers = Object.values(tracker.torrents[origin.swarm?.infoHash ?? '']?.peers.cache ?? {})
  expect(told.filter(({ event }) => event === 'failed')).toEqual([])
  return { peers, ready: told.find((message) => message.event === 'ready') }
}

async function listen() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port }
}

const peerId = '-WW0300-abcdefabcdef'

test('a client takes over the port and the peer id under which its pull was announced', async () => {
  const { server, port } = await listen()
  server.close()
  await once(server, 'close')
  const { ready, peers } = await portAfterJoining(port, peerId)
  expect(ready).toMatchObject({ port })
  expect(JSON.stringify(peers)).toContain(Buffer.from(peerId).toString('hex'))
})

test('a client whose port somebody has taken in the meantime listens on another', async () => {
  const { server, port } = await listen()
  onTestFinished(() => {
    server.close()
  })
  const { ready } = await portAfterJoining(port, peerId)
  expect(ready?.port).toBeGreaterThan(0)
  expect(ready?.port).not.toBe(port)
})
