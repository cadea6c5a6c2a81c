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
export type Part = { model: string; modelName: string; file: ModelFile; path: string }

export type ModelPulls = ReturnType<typeof modelPulls>

/** Pulls models of one registry into the folder of local models. */
export function modelPulls({ registry, modelsDirectory, memoryBytes, sharing }: Settings) {
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
    /** The files that a name means, as the registry has them now. */
    async listParts(model: string, signal: AbortSignal): Promise<Part[]> {
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

    /** Resolves when the file is here and is what the registry says. Stopped, it leaves what it has for the next time. */
    async pull(
      { model, ...part }: Part,
      guest: { signal: AbortSignal; onEvent: (event: PullEvent) => void },
    ): Promise<PulledFile> {
      const order = { client: getClient(), network, ...part, ...peerSettings }
      return withFaults(model, () => shared.pull(order, guest))
    },

    close: shared.close,
  }
}

const userAgent = 'shoal-daemon'
