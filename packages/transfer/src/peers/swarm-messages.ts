/** The messages between a pull and the thread of its swarm. Pieces are numbered from 0. */

import type { NetworkSettings } from '@shoal/network'

export type SwarmSetup = {
  /** The partial file, at its full size. */
  path: string
  fileSizeBytes: number
  /** The `.torrent` of the file (BEP 3), from the registry. */
  torrent: Uint8Array
  /** The address on which to listen for peers; `127.0.0.1` if only peers on this machine may connect. */
  host: string
  /** Whether to look for peers on the local network (BEP 14). */
  isLocalDiscoveryOn: boolean
  /** How to reach the tracker and the registry. */
  network: NetworkSettings
  /** The limits at the beginning, in bytes per second; undefined for no limit. */
  downloadLimit: number | undefined
  uploadLimit: number | undefined
}

/** The port and peer ID to join the swarm with, and the known peers. */
export type Contact = {
  /** The port to listen on; 0 for any free port. */
  port: number
  /** 20 ASCII characters; undefined for a new peer ID. */
  peerId: string | undefined
  /** Addresses of peers that are already known. */
  peers: string[]
}

export type Pieces = { from: number; to: number }

export type SwarmMethods = {
  /** Joins the swarm. Earlier calls to other methods wait for this call. */
  join(contact: Contact): void
  /** Reports pieces that are on disk and may be sent to peers. */
  have(pieces: Pieces): void
  /** Requests the pieces of a range. Its first `bytesHere` bytes, valid or not, are already on disk. */
  want(pieces: Pieces & { bytesHere: number }): void
  /**
   * Requests no further pieces of the range, except those that a peer has begun to send. The event `settled` follows.
   */
  settle(pieces: Pieces): void
  leave(pieces: Pieces): void
  /** Forgets the pieces of a chunk with a wrong hash. They are checked when they are requested again. */
  forget(pieces: Pieces): void
  /**
   * Sets the URLs of the whole file, best first, for pieces that no peer has. Without URLs, the registry is not used.
   */
  registry(urls: string[]): void
  /** Changes a limit, in bytes per second; undefined for no limit. */
  limit(change: { direction: 'download' | 'upload'; bytesPerSecond: number | undefined }): void
  close(): Promise<void>
}

/** The registry's name among the peers. */
export const registryName = 'registry'

/** The sender name used for bytes that were already on disk. */
export const diskName = 'this disk'

/**
 * The senders of a piece with the number of bytes from each, including bytes that had already been received from
 * another source.
 */
export type Sent = [sender: string, bytes: number][]

export type SwarmEvents = {
  ready(place: { port: number; pieceLength: number }): void
  /**
   * A piece is on disk and matches its SHA-1. `sent` covers the bytes of the piece received since the piece was last
   * reported.
   */
  piece(piece: { index: number; sent: Sent }): void
  /**
   * Follows `settle`. In the range that starts at `from`, all pieces that peers had begun to send are complete, or no
   * peer is sending them any longer.
   */
  settled(from: number): void
  /**
   * The number of peers other than the registry, and how many of them are pulling the file with shoal at the moment.
   */
  peers(counts: { peers: number; pullers: number }): void
  /** A peer sent a bad piece. The peer is not used again. */
  banned(peer: string): void
  failed(message: string): void
}
