/**
 * The metadata peer: a BitTorrent peer that has the metadata of every public file, and none of the files' bytes. A
 * magnet link only identifies a torrent. A client that opens a magnet link gets the address of this peer from the
 * tracker, requests the torrent's metadata from the peer (BEP 9), and then downloads the file from the web seed.
 *
 * The package `bittorrent-protocol` is not used, because it is designed for connections to peers that the user has
 * chosen. For each connection, it spends 15 ms on generating a key. It copies a partly received message again with
 * every byte that arrives. A single negative bencoded length would put it into an endless loop, which would stop the
 * whole registry.
 */
import type { Socket } from 'node:net'
import type { Log } from '@shoal/log'
import { newPeerId } from '@shoal/model-file'
import { connectionSlots } from '@shoal/server/connections'
import { Departure, Refusal } from './errors.ts'
import { listenOn } from './listener.ts'
import type { MetadataMetrics } from './metrics.ts'
import { MetadataReader } from './reader.ts'
import { giveMetadata } from './session.ts'
import type { MetadataSource } from './source.ts'

export type MetadataPeer = {
  port: number
  close(): Promise<void>
}

type Options = {
  host: string
  /** The port; 0 lets the operating system choose one. */
  port: number
  source: MetadataSource
  metrics: MetadataMetrics
  log: Pick<Log, 'warn'>
  limits?: Partial<typeof defaultLimits>
}

const defaultLimits = {
  maxConnections: 512,
  /**
   * Maximum number of connections from one network: an IPv4 address or an IPv6 /64. Many clients may share a network;
   * those above the limit can retry later.
   */
  maxPerNetwork: 32,
  /**
   * Maximum number of bytes received on one connection. The protocol needs a few thousand, and a client that has the
   * file may also announce its pieces.
   */
  maxBytes: 256 * 1024,
  handshakeMs: 10_000,
  /** Maximum time from the handshake to the first block, and between two blocks. */
  idleMs: 30_000,
  /** Timeout after the last block. */
  closingMs: 10_000,
  /** How long a slot stays occupied after a refusal, in order to limit retries. */
  refusedMs: 1_000,
}

export async function startMetadataPeer(options: Options): Promise<MetadataPeer> {
  const { host, port, source, metrics, log } = options
  const limits = { ...defaultLimits, ...options.limits }
  const slots = connectionSlots(limits)
  const peerId = Buffer.from(newPeerId())
  const sockets = new Set<Socket>()

  function accept(socket: Socket) {
    // Readers and writers receive the error too. Without this listener, the error would end the process.
    socket.on('error', () => socket.destroy())
    const giveBack = slots.take(socket.remoteAddress)
    if (!giveBack) {
      metrics.refused.inc()
      socket.destroy()
      return
    }
    metrics.connections.inc()
    sockets.add(socket)
    answer(socket).then((isRefused) => {
      socket.destroy()
      sockets.delete(socket)
      if (isRefused) setTimeout(giveBack, limits.refusedMs).unref()
      else giveBack()
    })
  }

  /**
   * Serves a connection until it can be closed. Resolves to `true` if the client was refused or the registry failed.
   */
  async function answer(socket: Socket): Promise<boolean> {
    let deadline = setTimeout(
      () => socket.destroy(new Refusal('the handshake took too long')),
      limits.handshakeMs,
    )
    const endIn = (ms: number) => {
      clearTimeout(deadline)
      deadline = setTimeout(() => socket.destroy(), ms)
    }
    const reader = new MetadataReader(readPieces(socket), limits.maxBytes)
    const write = (bytes: Uint8Array) => writeTo(socket, bytes)
    const onProgress = () => endIn(limits.idleMs)
    try {
      const isServed = await giveMetadata({ reader, write }, { source, peerId, onProgress })
      if (!isServed) return false
      metrics.served.inc()
      endIn(limits.closingMs)
      // The client should close the connection first: aria2 hangs if the connection is closed while it processes the
      // last block.
      await reader.skip(limits.maxBytes)
      return false
    } catch (error) {
      if (error instanceof Departure) return false
      if (error instanceof Refusal) metrics.refused.inc()
      else log.warn({ err: error }, 'the metadata peer could not serve a connection')
      return true
    } finally {
      clearTimeout(deadline)
    }
  }

  const listening = await listenOn({ host, port, accept, log })
  return {
    port: listening.port,
    async close() {
      for (const socket of sockets) socket.destroy()
      await listening.close()
    },
  }
}

async function* readPieces(socket: Socket): AsyncGenerator<Uint8Array> {
  try {
    yield* socket
  } catch (error) {
    throw toConnectionError(error)
  }
}

/**
 * Resolves when the operating system has accepted the bytes, so that data for a slow reader does not accumulate in
 * memory.
 */
function writeTo(socket: Socket, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.write(bytes, (error) => (error ? reject(toConnectionError(error)) : resolve()))
  })
}

function toConnectionError(error: unknown): Error {
  return error instanceof Refusal ? error : new Departure('the connection broke', { cause: error })
}
