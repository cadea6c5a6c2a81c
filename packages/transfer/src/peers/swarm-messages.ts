/** The messages between a pull and the thread of its swarm. Pieces are numbered from 0. */

import type { NetworkSettings } from '@shoal/network'

export type SwarmSetup = {
  /** The partial file, at its full size. */
  path: string
  fileSizeBytes: number
  /** The `.torrent` of the file (BEP 3), from the registry. */
  torrent: Uint8Array
  /** The address on which to listen for peers; `127.0.0.1` for only those on this machine. */
  host: string
  /** Whether to look for peers on the local network (BEP 14). */
  isLocalDiscoveryOn: boolean
  /** For the tracker, and for the registry's bytes. */
  network: NetworkSettings
  /** Bytes per second; undefined for no limit. */
  downloadLimit: number | undefined
  uploadLimit: number | undefined
}

/** The identity and address with which to join. */
export type Contact = {
  /** The port to listen on; 0 for any free port. */
  port: number
  /** 20 ASCII characters; undefined for a new one. */
  peerId: string | undefined
  /** Addresses of peers that are already known. */
  peers: string[]
}

export type Pieces = { from: number; to: number }

export type SwarmMethods = {
  /** Nothing begins before it: earlier calls wait. */
  join(contact: Contact): void
  /** Pieces that are on disk and may be sent to peers. */
  have(pieces: Pieces): void
  /** Pieces to get. Their first `bytesHere` bytes, good or not, are on disk. */
  want(pieces: Pieces & { bytesHere: number }): void
  /** No more pieces are to be begun. */
  settle(pieces: Pieces): void
  leave(pieces: Pieces): void
  /** Pieces of a chunk with a wrong hash. They are checked when they are requested again. */
  forget(pieces: Pieces): void
  /** URLs of the whole file, the best first, for pieces that no peer has; none to do without. */
  registry(urls: string[]): void
  close(): Promise<void>
}

/** The registry's name among the peers. */
export const registryName = 'registry'

/** The sender's name for bytes that were already on disk. */
export const diskName = 'this disk'

/** The senders of a piece with their bytes, including bytes that had already been received another way. */
export type Sent = [sender: string, bytes: number][]

export type SwarmEvents = {
  ready(place: { port: number; pieceLength: number }): void
  /** A piece is on disk, and has its SHA-1. `sent`: what was received since the last report. */
  piece(piece: { index: number; sent: Sent }): void
  /** Of the pieces from `from` on, those that had been begun are complete, or no peer delivers them. */
  settled(from: number): void
  peers(count: number): void
  /** A peer that sent a bad piece. It is not used again. */
  banned(peer: string): void
  failed(message: string): void
}
