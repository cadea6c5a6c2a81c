import { join } from 'node:path'
import { directNetwork, registryTransport } from '@shoal/network'
import { type ModelFile, registryClient } from '@shoal/protocol/client'
import type { PullEvent, PulledFile } from '@shoal/transfer'
import type { DaemonConfig } from '../config.ts'
import { Fault } from '../errors.ts'
import { chooseFiles } from './choose-files.ts'
import { referenceTo } from './reference.ts'
import { pullFault } from './registry-fault.ts'
import { sharedPulls } from './shared-pulls.ts'

/** What models may take decides which file of a model is pulled where none is named. */
type Settings = Pick<DaemonConfig, 'registry' | 'modelsDirectory' | 'memoryBytes' | 'sharing'>

/** One file of what is to be pulled. */
export type PullPart = { model: string; modelName: string; file: ModelFile; path: string }

type Guest = { signal: AbortSignal; onEvent: (event: PullEvent) => void }

/**
 * Pulls of one registry. Both calls reject with a `Fault` that says what the registry, the network or the disk refused, or that this
 * daemon has no registry, and with the reason of their signal.
 */
export interface ModelPulls {
  /** The files that a name means, as the registry has them now. */
  listParts(model: string, signal: AbortSignal): Promise<PullPart[]>
  /**
   * Resolves when the file is here and is what the registry says. Whoever asks for a file that is being pulled joins that pull;
   * when the last one's signal is aborted it stops, and keeps what it has for the next time.
   */
  pull(part: PullPart, guest: Guest): Promise<PulledFile>
  /** Stops all pulls, and resolves when they have stopped. What was fetched is kept. */
  close(): Promise<void>
}

/** Pulls models of one registry into the folder of local models. */
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

  /** Who shares asks others, too. */
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
      throw pullFault(error, { model, registry: registry?.address ?? '' })
    }
  }

  return {
    async listParts(model, signal) {
      const from = getClient()
      const reference = referenceTo(registry?.address ?? '', model)
      const modelName = reference.name
      return withFaults(model, async () => {
        const files = await from.listFiles(modelName, {}, signal)
        return chooseFiles(files, reference, memoryBytes).map((file) => {
          return { model, modelName, file, path: join(modelsDirectory, modelName, file.filename) }
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
