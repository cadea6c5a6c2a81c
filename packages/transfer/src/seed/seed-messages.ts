/** The messages between a seeder and its thread. */
import type { NetworkSettings } from '@shoal/network'
import type { FileTorrent } from '../peers/get-torrent.ts'

export type SeedSetup = {
  /** For contacting trackers. */
  network: NetworkSettings
  /** The address on which to listen for peers. */
  host: string
  /** 0 for any free port. */
  port: number
  /**
   * Where the port and the peer ID are saved, if `port` is 0. If an earlier seeder was killed, its port and peer ID are
   * used again. Undefined to save nothing.
   */
  contactPath: string | undefined
  /** The limit at the beginning, in bytes per second; undefined for no limit. */
  uploadLimit: number | undefined
  /**
   * Maximum number of bytes sent for each file over the lifetime of the seeder, including pauses, as a multiple of the
   * file's size; undefined for no limit.
   */
  ratio: number | undefined
  /** Whether to look for peers on the local network (BEP 14). */
  isLocalDiscoveryOn: boolean
}

export type SharedFile = FileTorrent & { path: string; fileSizeBytes: number }

export type SeederMethods = {
  share(file: SharedFile): void
  unshare(path: string): void
  pause(): void
  resume(): void
  /** Changes the limit, in bytes per second; undefined for no limit. */
  limit(bytesPerSecond: number | undefined): void
  /** Reports the final status, and notifies trackers that we have stopped seeding. */
  close(): Promise<void>
}

export type SharedFileStatus = {
  path: string
  peers: number
  uploadedBytes: number
  isDone: boolean
}

export type SeedStatus = {
  port: number
  isPaused: boolean
  bytesPerSecond: number
  files: SharedFileStatus[]
}

export type SeederEvents = {
  status(status: SeedStatus): void
  /** A file cannot be shared, or can no longer be shared. */
  dropped(file: { path: string; message: string }): void
  failed(failure: { message: string; code: string | undefined }): void
}
