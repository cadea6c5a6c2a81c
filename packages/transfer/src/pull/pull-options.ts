import type { NetworkSettings } from '@shoal/network'
import type { ModelFile, RegistryClient } from '@shoal/protocol/client'
import type { Tuning } from '../chunks/tuning.ts'
import type { FindSame } from '../disk/reuse-file.ts'
import type { PullEvent } from '../events.ts'
import type { Limit } from '../limit.ts'

export type PullOptions = {
  client: RegistryClient
  /** The model's name (its slug) or ID. */
  modelName: string
  /** A file with status `ready`, from `client.listFiles`. */
  file: ModelFile
  /**
   * Finds files with the same SHA-256 on this machine. If there is one, it is used, and nothing is downloaded. The two
   * files can then be hard links to the same bytes.
   */
  findSame?: FindSame | undefined
  /** The path of the finished file, for example `…/models/<name>/<filename>`. */
  path: string
  /** Maximum number of bytes per second, for all connections together. */
  rateLimit?: Limit | undefined
  /** Maximum number of parallel requests. Default: 8. */
  connections?: number | undefined
  /**
   * Whether to download from peers:
   * - `off`: download only from the registry. This is the default, because peers would learn our IP address.
   * - `auto`: also download from peers.
   * - `only`: download only from peers.
   */
  peers?: 'auto' | 'off' | 'only' | undefined
  /**
   * Whether `shareFolder` may share the finished file. By default, an existing setting is kept, and a new file may be
   * shared.
   */
  isShared?: boolean | undefined
  /** Maximum number of bytes per second sent to peers. */
  uploadLimit?: Limit | undefined
  /** Whether to look for peers on the local network (BEP 14). */
  isLocalDiscoveryOn?: boolean | undefined
  /** Default: direct connections. */
  network?: NetworkSettings | undefined
  signal?: AbortSignal | undefined
  onEvent?: ((event: PullEvent) => void) | undefined
  /** Overrides for tests and unusual networks. */
  tuning?: Partial<Tuning> | undefined
}
