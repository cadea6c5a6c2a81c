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

export type Pieces = { from: number; to: number }

export type SwarmMethods = {
  /** Without it nothing begins: what is called before waits for it. */
  join(contact: Contact): void
  /** Pieces that are on disk and may be given to others. */
  have(pieces: Pieces): void
  /** Pieces to get. The first `bytesHere` of them, good or not, are on disk. */
  want(pieces: Pieces & { bytesHere: number }): void
  /** No more pieces are to be begun. */
  settle(pieces: Pieces): void
  leave(pieces: Pieces): void
  /** Pieces of a chunk that came wrong. Which of them are good is found when they are wanted again. */
  forget(pieces: Pieces): void
  /** URLs of the whole file, the best first, for what no peer has; none to do without. */
  registry(urls: string[]): void
  close(): Promise<void>
}

/** As which the registry stands among the peers. */
export const registryName = 'registry'

/** As whom senders are told of bytes that were on disk already. */
export const diskName = 'this disk'

/** The senders of a piece with the bytes that each sent, including bytes that had already come another way. */
export type Sent = [sender: string, bytes: number][]

export type SwarmEvents = {
  ready(place: { port: number; pieceLength: number }): void
  /** A piece is on disk, and has its SHA-1. `sent`: what came since it was told last. */
  piece(piece: { index: number; sent: Sent }): void
  /** Those pieces from `from` on that were begun when this was asked for are here, or nobody brings them. */
  settled(from: number): void
  peers(count: number): void
  /** A peer that sent what was not the piece. It is not asked again. */
  banned(peer: string): void
  failed(message: string): void
}
