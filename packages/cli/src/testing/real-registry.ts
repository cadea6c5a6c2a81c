/**
 * A real registry in this process, with its data in a temporary folder. Tests can stop it or delete the bytes of its
 * files.
 */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeGgufFile } from '@shoal/model-file/testing'
import { type ModelFile, registryClient } from '@shoal/protocol/client'
import { type RegistryConfig, startRegistry } from '@shoal/registry'
import { testConfig } from '@shoal/registry/testing'
import { pushFile } from '@shoal/transfer'

export type RealRegistry = Awaited<ReturnType<typeof realRegistry>>

export async function realRegistry(settings: Partial<RegistryConfig> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'shoal-real-registry-'))
  const dataDirectory = join(folder, 'data')
  const config = { ...testConfig(dataDirectory), ...settings }
  let running = await startRegistry(config)
  let isRunning = true
  const { url, port } = running
  const token = await running.systemToken()
  const client = registryClient({ baseUrl: url, token })

  async function stop() {
    isRunning = false
    await running.close()
  }

  return {
    url,
    /** The port that the registry listens on, which may differ from the port in `url`. */
    port,
    dataDirectory,
    /** The token of an administrator. */
    token,

    /** Publishes a model with one file of this size and unique content. */
    async publish(modelName: string, sizeBytes: number, isPublic = true): Promise<ModelFile> {
      const path = join(folder, `${modelName}.gguf`)
      await writeGgufFile(path, sizeBytes, performance.now())
      await client.createModel({ name: modelName, is_public: isPublic })
      return await pushFile({ client, modelName, path })
    },

    /** Writes a file's torrent to `path`, and returns the file's links. */
    async getTorrent(modelName: string, { id }: ModelFile, path: string) {
      const { torrent_url, magnet_uri } = await client.getDownload(modelName, id)
      const response = await fetch(torrent_url)
      await writeFile(path, new Uint8Array(await response.arrayBuffer()))
      return { torrentPath: path, torrentUrl: torrent_url, magnet: magnet_uri }
    },

    /** The number of seeders that the tracker lists for a file. */
    async countSeeders(modelName: string, { id }: ModelFile): Promise<number> {
      return (await client.getFile(modelName, id)).seeders
    },

    /** The download count of the model. */
    async countDownloads(modelName: string): Promise<number> {
      return (await client.getModel(modelName)).downloads
    },

    listFiles: (modelName: string): Promise<ModelFile[]> => client.listFiles(modelName),

    /** The number of peers that the tracker lists with an incomplete file (BEP 48). */
    async countLeechers({ torrent_info_hash }: ModelFile): Promise<number> {
      const infoHash = (torrent_info_hash ?? '').replace(/../g, '%$&')
      const scrape = await fetch(`${url}/scrape?info_hash=${infoHash}`)
      const [, count] = /10:incompletei(\d+)e/.exec(await scrape.text()) ?? []
      return Number(count)
    },

    rename: (modelName: string, name: string) => client.updateModel(modelName, { name }),

    deleteModel: (modelName: string) => client.deleteModel(modelName),

    makePrivate: (modelName: string) => client.updateModel(modelName, { is_public: false }),

    /** Deletes the bytes of all files. Everything else still works. */
    async loseBytes() {
      const objects = join(dataDirectory, 'store', 'objects')
      for (const name of await readdir(objects)) await rm(join(objects, name), { recursive: true })
    },

    stop,
    async startAgain() {
      running = await startRegistry({ ...config, port })
      isRunning = true
    },

    async [Symbol.asyncDispose]() {
      if (isRunning) await stop()
      await rm(folder, { recursive: true })
    },
  }
}
