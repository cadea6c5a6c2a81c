/**
 * The metadata peer: a BitTorrent peer that knows the metadata of every public file and has none of its bytes. A magnet names
 * a torrent and no more; the tracker names this peer, the client asks it for the rest (BEP 9), and then downloads from the
 * web seed.
 *
 * It is our own and not `bittorrent-protocol`, which is made for peers that one has asked for: for anybody who connects that
 * works 15 ms on a key, copies a message again with every byte of it that comes, and one bencoded length below zero
 * keeps it, and with it the registry, busy forever.
 */
import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { connectionSlots } from '../http/connection-slots.ts'
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
  /** 0 takes a port that the system gives. */
  port: number
  source: MetadataSource
  metrics: MetadataMetrics
  log: { warn(details: object, message: string): void }
  limits?: Partial<typeof defaultLimits>
}

const defaultLimits = {
  maxConnections: 512,
  /** Many may sit behind one address; they come again after a while. */
  maxPerNetwork: 32,
  /** Bytes of one connection. What has to be said fits a few thousand; a client with the file may tell of its pieces. */
  maxBytes: 256 * 1024,
  handshakeMs: 10_000,
  /** From one block that is asked for to the next. */
  idleMs: 30_000,
  /** After the last block. */
  closingMs: 10_000,
  /** How long a slot stays taken after a refusal: so often may somebody try who is refused. */
  refusedMs: 1_000,
}

export async function startMetadataPeer(options: Options): Promise<MetadataPeer> {
  const { host, port, source, metrics, log } = options
  const limits = { ...defaultLimits, ...options.limits }
  const slots = connectionSlots(limits)
  const peerId = Buffer.concat([Buffer.from('-SH0100-'), randomBytes(12)])
  const sockets = new Set<Socket>()

  function accept(socket: Socket) {
    socket.on('error', () => socket.destroy()) // whoever reads or writes is told; unheard, it would end the process
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

  /** Resolves when there is nothing more to say; true when the other side was turned away. */
  async function answer(socket: Socket): Promise<boolean> {
    let deadline = setTimeout(() => socket.destroy(new Refusal('no handshake')), limits.handshakeMs)
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
      await reader.skip(limits.maxBytes) // it may leave first: aria2 hangs when it is left while it takes in the last block
      return false
    } catch (error) {
      if (error instanceof Departure) return false
      if (error instanceof Refusal) metrics.refused.inc()
      else log.warn({ err: error }, 'the metadata peer could not answer')
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

/** Resolves when the system has taken the bytes: what is not read by the other side is not piled up here. */
function writeTo(socket: Socket, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.write(bytes, (error) => (error ? reject(toConnectionError(error)) : resolve()))
  })
}

function toConnectionError(error: unknown): Error {
  return error instanceof Refusal ? error : new Departure('the connection broke', { cause: error })
}
