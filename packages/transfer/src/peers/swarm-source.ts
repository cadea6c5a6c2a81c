import { NetworkError, type NetworkFailure } from '@shoal/protocol/client'
import type { Board } from '../pull/board.ts'
import type { ChunkSource, ChunkTask } from '../pull/chunk-source.ts'
import type { ChunkWorker } from '../pull/chunk-worker.ts'
import type { Chunk, Manifest } from '../pull/manifest.ts'
import { type Trouble, TroubleError, troubleOfNetwork } from '../trouble.ts'
import type { Swarm } from './swarm.ts'
import { registryName } from './swarm-messages.ts'

/** Chunks at a time: enough pieces for peers to have others than each other, few enough to lose little. */
const slots = 8

type Setup = {
  manifest: Manifest
  pieceLength: number
  board: Board
  /** As the registry is called among the sources. */
  registryLabel: string
  /** Hashes what is on disk. */
  worker: ChunkWorker
  /** So long a chunk may be without a new piece. */
  stallMs: number
  /** Why the tracker cannot be asked. */
  trackerError(): unknown
  /** Resolves when peers are to be asked, with what fires when they no longer are. */
  turn(): Promise<AbortSignal>
}

export type SwarmSource = ChunkSource & {
  joins(swarm: Swarm): void
  onPiece(piece: number, senders: string[]): void
  /** Bytes of all pieces that somebody sent. */
  broughtBytes(): number
  /** Bytes that are on disk beyond what the board tells: pieces behind a gap. */
  looseBytes(): number
}

/** Peers as a source of chunks. What they send has its SHA-1 when it comes here; the chunk's SHA-256 decides. */
export function swarmSource({
  manifest,
  pieceLength,
  board,
  registryLabel,
  worker,
  stallMs,
  trackerError,
  turn,
}: Setup): SwarmSource {
  const here = new Uint8Array(Math.ceil(manifest.fileSizeBytes / pieceLength))
  const senders = new Map<number, Set<string>>()
  const waiting = new Map<number, () => void>()
  let swarm: Swarm | undefined
  const bytesOf = new Map<string, number>()

  const chunkOf = (piece: number) => Math.floor((piece * pieceLength) / manifest.chunkSize)
  const sizeOf = (piece: number) =>
    Math.min(pieceLength, manifest.fileSizeBytes - piece * pieceLength)

  function onPiece(piece: number, by: string[]) {
    if (here[piece] === 1) return
    here[piece] = 1
    for (const sender of by) {
      bytesOf.set(sender, (bytesOf.get(sender) ?? 0) + sizeOf(piece) / by.length)
    }
    const chunk = chunkOf(piece)
    senders.set(chunk, new Set([...(senders.get(chunk) ?? []), ...by]))
    waiting.get(chunk)?.()
  }

  /** Bytes of a chunk that are on disk without a gap, from its start. */
  function prefixOf({ start, size }: Chunk): number {
    let at = start
    while (at < start + size && here[at / pieceLength] === 1) at += sizeOf(at / pieceLength)
    return at - start
  }

  async function untilWhole(chunk: Chunk, signal: AbortSignal) {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    const stall = setTimeout(() => reject(new TroubleError(noPeers(chunk))), stallMs)
    const look = () => {
      stall.refresh()
      const bytes = prefixOf(chunk)
      if (bytes > Atomics.load(board.written, chunk.index)) {
        Atomics.store(board.written, chunk.index, bytes)
      }
      if (bytes === chunk.size) resolve()
    }
    waiting.set(chunk.index, look)
    look()
    try {
      await promise
    } finally {
      clearTimeout(stall)
      waiting.delete(chunk.index)
      signal.removeEventListener('abort', onAbort)
    }
  }

  function noPeers({ index }: Chunk): Trouble {
    const error = trackerError()
    const detail = `nobody in the swarm brings chunk ${index}`
    const failure: NetworkFailure =
      error instanceof NetworkError
        ? error.failure
        : { code: 'unreachable', reason: 'no_peers', host: registryLabel, detail }
    return { ...troubleOfNetwork(failure), kind: 'lost' }
  }

  /** A chunk that turned out bad is to come again, whole. */
  function forget(chunk: Chunk) {
    for (let at = chunk.start; at < chunk.start + chunk.size; at += pieceLength) {
      here[at / pieceLength] = 0
    }
    senders.delete(chunk.index)
  }

  return {
    slots,
    canGoOn: () => false,
    turn,
    onPiece,
    broughtBytes: () => bytesOf.values().reduce((sum, bytes) => sum + bytes, 0),
    joins(joined: Swarm) {
      swarm = joined
      for (const chunk of waiting.keys()) joined.want(manifest.chunks[chunk] as Chunk)
    },
    shares: () =>
      Array.from(bytesOf, ([sender, bytes]) => ({
        name: sender === registryName ? registryLabel : sender,
        bytes: Math.round(bytes),
        isPeer: sender !== registryName,
      })),

    async fetch({ chunk, signal }: ChunkTask) {
      swarm?.want(chunk)
      try {
        await untilWhole(chunk, signal)
      } finally {
        swarm?.leave(chunk)
      }
      const sha256 = await worker.check(chunk)
      if (sha256 !== chunk.sha256) forget(chunk)
      const by = [...(senders.get(chunk.index) ?? [])].join(', ')
      return { sha256, sender: by || 'this disk' }
    },

    looseBytes() {
      let bytes = 0
      for (const chunk of waiting.keys()) {
        const { start, size } = manifest.chunks[chunk] as Chunk
        for (let at = start; at < start + size; at += pieceLength) {
          if (here[at / pieceLength] === 1) bytes += sizeOf(at / pieceLength)
        }
        bytes -= Atomics.load(board.written, chunk)
      }
      return Math.max(0, bytes)
    },
  }
}
