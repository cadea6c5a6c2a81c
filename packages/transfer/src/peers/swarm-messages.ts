/** What passes between a pull and the thread of its swarm. Pieces are numbered from 0. */

import type { NetworkSettings } from '@shoal/network'

export type SwarmSetup = {
  /** The unfinished file, at its full size. */
  path: string
  fileSizeBytes: number
  /** The `.torrent` of the file (BEP 3), as the registry gives it. */
  torrent: Uint8Array
  /** Where to listen for peers; `127.0.0.1` for those of this machine alone. */
  host: string
  /** Whether to look for peers on the local network (BEP 14). */
  isLocalDiscoveryOn: boolean
  /** For the tracker, and for the registry's bytes. */
  network: NetworkSettings
  /** Bytes per second; undefined for no limit. */
  downloadLimit: number | undefined
  uploadLimit: number | undefined
}

/** As whom and where to join. */
export type Contact = {
  /** Where to listen; 0 for any port that is free. */
  port: number
  /** 20 ASCII characters; undefined for a new one. */
  peerId: string | undefined
  /** Addresses of peers that are known already. */
  peers: string[]
}

export type ToSwarm =
  /** The first: without it nothing begins. */
  | { call: 'join'; contact: Contact }
  /** Pieces that are on disk and may be given to others. */
  | { call: 'have'; from: number; to: number }
  /** Pieces to get. The first `bytesHere` of them, good or not, are on disk. */
  | { call: 'want'; from: number; to: number; bytesHere: number }
  /** No more pieces are to be begun. */
  | { call: 'settle'; from: number; to: number }
  | { call: 'leave'; from: number; to: number }
  /** Pieces of a chunk that came wrong. Which of them are good is found when they are wanted again. */
  | { call: 'forget'; from: number; to: number }
  /** URLs of the whole file, the best first, for what no peer has; none to do without. */
  | { call: 'registry'; urls: string[] }
  | { call: 'close' }

/** As which the registry stands among the peers. */
export const registryName = 'registry'

/** As whom senders are told of bytes that were on disk already. */
export const diskName = 'this disk'

/** The senders of a piece with the bytes that each sent, including bytes that had already come another way. */
export type Sent = [sender: string, bytes: number][]

export type FromSwarm =
  | { event: 'ready'; port: number; pieceLength: number }
  /** A piece is on disk, and has its SHA-1. `sent`: what came since it was told last. */
  | { event: 'piece'; index: number; sent: Sent }
  /** Those pieces from `from` on that were begun when this was asked for are here, or nobody brings them. */
  | { event: 'settled'; from: number }
  | { event: 'peers'; count: number }
  /** A peer that sent what was not the piece. It is not asked again. */
  | { event: 'banned'; peer: string }
  | { event: 'failed'; message: string }
