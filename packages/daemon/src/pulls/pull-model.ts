import { join } from 'node:path'
import { hostOf } from '@shoal/core/references'
import type { FileChoice } from '@shoal/model-file/choices'
import { directNetwork } from '@shoal/network'
import type { ModelFile, RegistryClient } from '@shoal/protocol/client'
import {
  claimFolder,
  type FindSame,
  findFolder,
  type PullEvent,
  type PulledFile,
  sameFilesIn,
} from '@shoal/transfer'
import type { DaemonConfig } from '../config.ts'
import { chooseFiles } from './choose-files.ts'
import type { KnownRegistries } from './known-registries.ts'
import { pullFault } from './registry-fault.ts'
import { sharedPulls } from './shared-pulls.ts'

/** `memoryBytes` determines which of a model's files is pulled by default. */
type Settings = Pick<
  DaemonConfig,
  'registry' | 'modelsDirectory' | 'memoryBytes' | 'sharing' | 'pullLimits'
>

type Dependencies = { settings: Settings; registries: KnownRegistries }

/** One file to be pulled. */
export type PullPart = {
  client: RegistryClient
  model: string
  modelName: string
  file: ModelFile
  path: string
  findSame: FindSame
}

/** The files to which a model's name refers in a registry. Nothing has been pulled yet. */
export type FoundModel = {
  /** The registry's origin. */
  registry: string
  isKnown: boolean
  name: string
  choice: FileChoice<ModelFile>
  /** Where the files are, or will be. */
  paths: string[]
}

type Wanted = {
  /** A model's name, which can contain a registry. */
  model: string
  /** Whether the user has agreed to use a registry that this machine does not know. */
  allowsUnknown: boolean
}

type Guest = { signal: AbortSignal; onEvent: (event: PullEvent) => void }

/**
 * Pulls models from the registries that this machine knows, and from others if the user has agreed. All methods except
 * `close` reject with the signal's reason after an abort. They reject with a `Fault` if the registry, the network or
 * the disk fails, or if the registry is not known.
 */
export interface ModelPulls {
  /** Asks the registry for a model's files. Writes nothing. */
  find(wanted: Wanted, signal: AbortSignal): Promise<FoundModel>
  /** Asks the registry for the files to which a model's name refers, and reserves a folder for them. */
  listParts(wanted: Wanted, signal: AbortSignal): Promise<PullPart[]>
  /**
   * Resolves when the file is on this machine and matches the registry's hash. A request for a file that is already
   * being pulled joins that pull. The pull stops when the signals of all its requests have aborted; a later request
   * resumes the download.
   */
  pull(part: PullPart, guest: Guest): Promise<PulledFile>
  /** Stops all pulls, and resolves when they have stopped. Partial downloads are kept. */
  close(): Promise<void>
}

/** Creates the `ModelPulls` for a daemon's registries and its folder of local models. */
export function modelPulls({ settings, registries }: Dependencies): ModelPulls {
  const { registry, modelsDirectory, memoryBytes, sharing, pullLimits } = settings
  const shared = sharedPulls()
  const network = registry?.network ?? directNetwork

  /** Options for pulling from peers as well as from the registry; undefined if sharing is off. */
  const peerSettings = sharing && {
    peers: 'auto' as const,
    uploadLimit: sharing.uploadLimit,
    isLocalDiscoveryOn: sharing.isLocalDiscoveryOn,
  }

  async function withFaults<T>(asked: { model: string; registry: string }, call: () => Promise<T>) {
    try {
      return await call()
    } catch (error) {
      throw pullFault(error, { ...asked, modelsDirectory })
    }
  }

  /** Chooses a file of a model. `folder` finds or claims the model's folder. */
  async function choose(
    { model, allowsUnknown }: Wanted,
    folder: typeof findFolder,
    signal: AbortSignal,
  ) {
    const { client, isKnown, reference } = await registries.openFor(model, { allowsUnknown })
    const { name } = reference
    const source = client.baseUrl
    return withFaults({ model, registry: source }, async () => {
      const choice = chooseFiles(await client.listFiles(name, {}, signal), reference, memoryBytes)
      const owner = { source, model: choice.files[0].model_id }
      const path = await folder({ modelsDirectory, name, host: hostOf(source), owner })
      const paths = choice.files.map(({ filename }) => join(path, filename))
      return { client, isKnown, name, choice, paths }
    })
  }

  return {
    async find(wanted, signal) {
      const { client, ...found } = await choose(wanted, findFolder, signal)
      return { registry: client.baseUrl, ...found }
    },

    async listParts(wanted, signal) {
      const { client, name, choice, paths } = await choose(wanted, claimFolder, signal)
      const findSame = sameFilesIn(modelsDirectory)
      const part = { client, model: wanted.model, modelName: name, findSame }
      return choice.files.map((file, index) => ({ ...part, file, path: paths[index] as string }))
    },

    async pull({ model, ...part }, guest) {
      const options = { network, ...part, ...peerSettings, ...pullLimits?.() }
      return withFaults({ model, registry: part.client.baseUrl }, () => shared.pull(options, guest))
    },

    close: shared.close,
  }
}
