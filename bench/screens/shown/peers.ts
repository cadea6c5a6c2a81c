import type { RegistryClient } from '@shoal/protocol/client'
import { randomFrom } from '../../harness/random.ts'
import { largeModel, medicalModel } from './models.ts'

const maxPeers = 24
const firstPort = 20_000

/** Announces seeders for some files of the models that appear in screenshots. The other files have no seeders. */
export async function addPeers(client: RegistryClient) {
  const random = randomFrom(5)
  for (const name of [medicalModel, largeModel]) {
    for (const { torrent_info_hash } of await client.listFiles(name)) {
      const peers = random.chance(0.2) ? 0 : 1 + random.integer(maxPeers)
      for (let peer = 0; torrent_info_hash && peer < peers; peer += 1) {
        await announce(client.baseUrl, torrent_info_hash, firstPort + peer)
      }
    }
  }
}

async function announce(origin: string, infoHash: string, port: number) {
  const bytes = infoHash.replace(/../g, '%$&')
  const query = `info_hash=${bytes}&peer_id=-SH0100-${String(port).padStart(12, '0')}`
  await fetch(`${origin}/announce?${query}&port=${port}&left=0&event=started&compact=1`)
}
