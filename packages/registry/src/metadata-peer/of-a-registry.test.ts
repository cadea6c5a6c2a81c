import { afterEach, expect, test } from 'vitest'
import { freePort } from '../../../../testing/free-port.ts'
import { hasRedis, redisUrl } from '../../../../testing/servers.ts'
import { type RegistryConfig, readRegistryConfig } from '../config.ts'
import { fetchMetadata } from '../testing/metadata-client.ts'
import { publish, smallGguf } from '../testing/publish.ts'
import { rawAnnounce } from '../testing/raw-announce.ts'
import { temporaryLog } from '../testing/temporary-log.ts'
import { startTestRegistry, type TestRegistry } from '../testing/test-registry.ts'

const started: TestRegistry[] = []
afterEach(() => Promise.all(started.splice(0).map((registry) => registry.close())))

async function start(settings: Partial<RegistryConfig>) {
  const registry = await startTestRegistry(settings)
  started.push(registry)
  const token = await registry.systemToken()
  return {
    registry,
    async publish(isPublic: boolean): Promise<string> {
      const name = isPublic ? 'tide' : 'hidden'
      const model = { name, is_public: isPublic }
      const file = await publish(registry, token, model, `${name}.gguf`, smallGguf(1))
      return file.torrent_info_hash ?? ''
    },
  }
}

const namedPeers = async (registry: TestRegistry, infoHash: string) =>
  (await rawAnnounce(registry, { info_hash: infoHash })).peers

test('a registry announces its peer for a public file, and the peer has the metadata', async () => {
  const { registry, publish } = await start({ peerPort: 0 })
  const infoHash = await publish(true)
  const [named] = await namedPeers(registry, infoHash)
  const [address, port] = named?.split(':') ?? []
  expect(address).toBe('127.0.0.1')
  const torrent = await fetchMetadata(Number(port), infoHash, 'required')
  expect(torrent.toString('latin1')).toContain('9:tide.gguf')
  expect((await registry.get('/metrics')).text).toContain('shoal_metadata_peer_served_total 1')
})

test('a registry without a peer port announces no peer', async () => {
  const { registry, publish } = await start({ peerPort: undefined })
  expect(await namedPeers(registry, await publish(true))).toEqual([])
})

const warnsOfNoAddress = ({ lines }: ReturnType<typeof temporaryLog>) =>
  lines().some(({ msg }) => String(msg).startsWith('SHOAL_PEER_ADDRESS is not set'))

test.skipIf(!hasRedis)(
  'a node that shares Redis announces no peer without its own address, and logs a warning',
  async () => {
    const log = temporaryLog()
    const { registry, publish } = await start({ redisUrl: await redisUrl(), peerPort: 0, log })
    expect(await namedPeers(registry, await publish(true))).toEqual([])
    await registry.stop()
    expect(warnsOfNoAddress(log)).toBe(true)
  },
)

test.skipIf(!hasRedis)(
  'a node that shares Redis announces its peer at its own address',
  async () => {
    const log = temporaryLog()
    const peerPort = await freePort()
    const peerAddress = '192.0.2.7'
    const settings = { redisUrl: await redisUrl(), peerPort, peerAddress, log }
    const { registry, publish } = await start(settings)
    const infoHash = await publish(true)
    expect(await namedPeers(registry, infoHash)).toEqual([`${peerAddress}:${peerPort}`])
    await registry.stop()
    expect(warnsOfNoAddress(log)).toBe(false)
  },
)

test('a members-only registry has no peer, because a peer would serve everyone', async () => {
  const { registry, publish } = await start({ peerPort: 0, isAnonymousReadAllowed: false })
  expect(await namedPeers(registry, await publish(true))).toEqual([])
})

test('the peer port is chosen by the system, configured, or off', () => {
  const portFor = (text?: string) => readRegistryConfig({ SHOAL_PEER_PORT: text }).peerPort
  expect([portFor(), portFor('6881'), portFor('off')]).toEqual([0, 6881, undefined])
  expect(() => portFor('no')).toThrow('SHOAL_PEER_PORT')
})
