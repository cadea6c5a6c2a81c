import { join } from 'node:path'
import { hostOf } from '@shoal/core/references'
import { directNetwork, registryTransport } from '@shoal/network'
import { type ModelFile, registryClient } from '@shoal/protocol/client'
import { claimFolder, type PullEvent, type PulledFile } from '@shoal/transfer'
import type { DaemonConfig } from '../config.ts'
import { Fault } from '../errors.ts'
import { chooseFiles } from './choose-files.ts'
import { referenceTo } from './reference.ts'
import { pullFault } from './registry-fault.ts'
import { sharedPulls } from './shared-pulls.ts'

/** `memoryBytes` determines which of a model's files is pulled by default. */
type Settings = Pick<DaemonConfig, 'registry' | 'modelsDirectory' | 'memoryBytes' | 'sharing'>

/** One file to be pulled. */
export type PullPart = { model: string; modelName: string; file: ModelFile; path: string }

type Guest = { signal: AbortSignal; onEvent: (event: PullEvent) => void }

/**
 * Pulls models from one registry. `listParts` and `pull` reject with the signal's reason after an abort. They reject
 * with a `Fault` if the registry, the network or the disk fails, or if this daemon has no registry.
 */
export interface ModelPulls {
  /** Asks the registry for the files to which a model's name refers. */
  listParts(model: string, signal: AbortSignal): Promise<PullPart[]>
  /**
   * Resolves when the file is on this machine and matches the registry's hash. A request for a file that is already
   * being pulled joins that pull. The pull stops when the signals of all its requests have aborted; a later request
   * resumes the download.
   */
  pull(part: PullPart, guest: Guest): Promise<PulledFile>
  /** Stops all pulls, and resolves when they have stopped. Partial downloads are kept. */
  close(): Promise<void>
}

/** Creates the `ModelPulls` for a daemon's registry and its folder of local models. */
export function modelPulls(settings: Settings): ModelPulls {
  const { registry, modelsDirectory, memoryBytes, sharing } = settings
  const shared = sharedPulls()
  const network = registry?.network ?? directNetwork
  const client =
    registry &&
    registryClient({
      baseUrl: registry.address,
      token: registry.token,
      userAgent,
      transport: registryTransport(network),
    })

  /** The options for also pulling from peers; undefined if sharing is off. */
  const peerSettings = sharing && {
    peers: 'auto' as const,
    uploadLimit: sharing.uploadLimit,
    isLocalDiscoveryOn: sharing.isLocalDiscoveryOn,
  }

  function getClient() {
    if (client) return client
    throw new Fault(400, 'this daemon was started without a registry to pull from')
  }

  async function withFaults<T>(model: string, call: () => Promise<T>): Promise<T> {
    try {
      return await call()
    } catch (error) {
      throw pullFault(error, { model, registry: registry?.address ?? '', modelsDirectory })
    }
  }

  return {
    async listParts(model, signal) {
      const from = getClient()
      const reference = referenceTo(registry?.address ?? '', model)
      const modelName = reference.name
      return withFaults(model, async () => {
        const files = await from.listFiles(modelName, {}, signal)
        const chosen = chooseFiles(files, reference, memoryBytes)
        const [{ model_id }] = chosen as [ModelFile]
        const source = from.baseUrl
        const folder = await claimFolder({
          modelsDirectory,
          name: modelName,
          host: hostOf(source),
          owner: { source, model: model_id },
        })
        return chosen.map((file) => {
          return { model, modelName, file, path: join(folder, file.filename) }
        })
      })
    },

    async pull({ model, ...part }, guest) {
      const options = { client: getClient(), network, ...part, ...peerSettings }
      return withFaults(model, () => shared.pull(options, guest))
    },

    close: shared.close,
  }
}

const userAgent = 'shoal-daemon'
