import { randomFillSync } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeGguf } from '@shoal/model-file/testing'
import type { Download } from '@shoal/protocol'
import type { TestContext } from 'vitest'
import { publish } from './publish.ts'
import type { TestRegistry } from './test-registry.ts'

/** A file for a test to download, and folders for the client that downloads it. */
export type PublishedTorrent = {
  sha256_hash: string
  infoHash: string
  filename: string
  magnet: string
  torrentUrl: string
  torrentPath: string
  folder: string
  home: string
}

/**
 * Publishes a file of 20 MB, with two chunks and twenty pieces. Its bytes are random, so that no other peer can have
 * them.
 */
export async function publishTorrent(
  registry: TestRegistry,
  { task, onTestFinished }: TestContext,
  { isPublic = true } = {},
): Promise<PublishedTorrent> {
  const name = task.name.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  const filename = `${name}.gguf`
  const bytes = makeGguf({
    metadata: { 'general.architecture': 'llama' },
    tensors: [{ name: 'token_embd.weight', shape: [5_000_000], type: 'F32' }],
    fill: (data) => randomFillSync(data),
  })
  const token = await registry.systemToken()
  const file = await publish(
    registry,
    token,
    { name, is_public: isPublic },
    filename,
    Buffer.from(bytes),
  )
  const { body }: { body: Download } = await registry.get(`/v1/files/${name}/download/${file.id}`, {
    token,
  })

  const parent = await mkdtemp(join(tmpdir(), 'shoal-interop-'))
  onTestFinished(() => rm(parent, { recursive: true }))
  const torrentPath = join(parent, `${name}.torrent`)
  await writeFile(torrentPath, (await registry.bytes(body.torrent_url)).bytes)
  const [folder, home] = [join(parent, 'downloads'), join(parent, 'home')]
  await Promise.all([mkdir(folder), mkdir(home)])
  return {
    sha256_hash: file.sha256_hash,
    infoHash: body.torrent_info_hash,
    filename,
    magnet: body.magnet_uri,
    torrentUrl: body.torrent_url,
    torrentPath,
    folder,
    home,
  }
}
