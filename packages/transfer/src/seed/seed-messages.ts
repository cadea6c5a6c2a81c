/** What passes between a seeder and its thread. */
import type { NetworkSettings } from '@shoal/network'
import type { FileTorrent } from '../peers/get-torrent.ts'

export type SeedSetup = {
  /** For trackers. */
  network: NetworkSettings
  /** Where to listen for peers. */
  host: string
  port: number
  /** Bytes per second; undefined for no limit. */
  uploadLimit: number | undefined
  /** Each file is sent at most so many times its size while the seeder runs, pauses included; undefined for no limit. */
  ratio: number | undefined
  /** Whether to look for peers on the local network (BEP 14). */
  isLocalDiscoveryOn: boolean
}

export type SharedFile = FileTorrent & { path: string; fileSizeBytes: number }

export type ToSeeder =
  | { call: 'share'; file: SharedFile }
  | { call: 'unshare'; path: string }
  | { call: 'pause' }
  | { call: 'resume' }
  | { call: 'close' }

export type FileStanding = { path: string; peers: number; uploadedBytes: number; isDone: boolean }

export type SeedStanding = {
  port: number
  isPaused: boolean
  bytesPerSecond: number
  files: FileStanding[]
}

export type FromSeeder =
  | { event: 'standing'; standing: SeedStanding }
  /** A file that cannot be shared, or no longer. */
  | { event: 'dropped'; path: string; message: string }
  | { event: 'failed'; message: string }
