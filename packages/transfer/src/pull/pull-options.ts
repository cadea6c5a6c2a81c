import type { NetworkSettings } from '@shoal/network'
import type { ModelFile, RegistryClient } from '@shoal/protocol/client'
import type { Tuning } from '../chunks/tuning.ts'
import type { PullEvent } from '../events.ts'

export type PullOptions = {
  client: RegistryClient
  /** The model's name (its slug) or id. */
  modelName: string
  /** A ready file, as `client.listFiles` gives it. */
  file: ModelFile
  /** Where the file is to stand, as in `…/models/<name>/<filename>`. */
  path: string
  /** Bytes per second, over all connections. */
  rateLimit?: number | undefined
  /** Requests at a time. Default 8. */
  connections?: number | undefined
  /** Whether other people who have the file are asked too. Default `off`: they learn our address. */
  peers?: 'auto' | 'off' | 'only' | undefined
  /** Whether the finished file may be shared by `shareFolder`. Default: as its record says; yes for a new one. */
  isShared?: boolean | undefined
  /** Bytes per second that peers may have of us. */
  uploadLimit?: number | undefined
  /** Whether to look for peers on the local network (BEP 14). */
  isLocalDiscoveryOn?: boolean | undefined
  /** Default: straight to every host. */
  network?: NetworkSettings | undefined
  signal?: AbortSignal | undefined
  onEvent?: ((event: PullEvent) => void) | undefined
  /** For tests, and for networks that are unlike others. */
  tuning?: Partial<Tuning> | undefined
}
