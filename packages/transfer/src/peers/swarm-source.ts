import { untilAborted } from '@shoal/core/async'
import { NetworkError, type NetworkFailure } from '@shoal/protocol/client'
import type { Board } from '../chunks/board.ts'
import type { ChunkChecker } from '../chunks/chunk-checker.ts'
import type { ChunkSource, ChunkTask } from '../chunks/chunk-source.ts'
import type { Chunk, Manifest } from '../chunks/manifest.ts'
import type { PiecesHere } from '../chunks/pieces-here.ts'
import { classifyNetworkError, TransferError, type TransferFailure } from '../failure.ts'
import type { Swarm } from './swarm.ts'
import { diskName, registryName, type Sent } from './swarm-messages.ts'

/**
 * Number of chunks requested at the same time: enough that peers have different pieces to exchange, but few enough that
 * little is lost if the pull is interrupted.
 */
const slots = 8
/** Once the pull stops using peers, the maximum time to wait for pieces that peers have begun to send. */
const settleTimeoutMs = 3_000

type Setup = {
  manifest: Manifest
  pieces: PiecesHere
  board: Board
  /** The registry's name among the sources. */
  registryLabel: string
  /** Hashes chunks on disk. */
  checker: ChunkChecker
  /** A task fails if its chunk receives no new piece for this long. */
  stallMs: number
  /** Why the tracker cannot be reached; undefined if it can. */
  trackerError(): unknown
  /** Resolves when peers may be used, with a signal that is aborted when they must no longer be used. */
  turn(): Promise<AbortSignal>
}

export interface SwarmSource extends ChunkSource {
  /** Sets the swarm from which all chunks are requested, including those requested earlier. */
  joins(swarm: Swarm): void
  /** Reports that a piece, counted from 0, is on disk and matches its SHA-1. */
  onPiece(piece: number, sent: Sent): void
  /**
   * Number of bytes received through the swarm for pieces on disk, including duplicates and bytes from the registry.
   */
  broughtBytes(): number
}

/**
 * Peers as a source of chunks. The pieces that they send are checked by SHA-1, but a chunk is trusted only if its
 * SHA-256 matches.
 */
export function swarmSource({
  manifest,
  pieces,
  board,
  registryLabel,
  checker,
  stallMs,
  trackerError,
  turn,
}: Setup): SwarmSource {
  const waiting = new Map<number, () => void>()
  let swarm: Swarm | undefined
  const bytesBySender = new Map<string, number>()

  function onPiece(piece: number, sent: Sent) {
    for (const [sender, bytes] of sent) {
      if (bytes > 0) bytesBySender.set(sender, (bytesBySender.get(sender) ?? 0) + bytes)
    }
    pieces.add(
      piece,
      sent.map(([sender]) => sender),
    )
    waiting.get(pieces.getChunkIndex(piece))?.()
  }

  const want = (chunk: Chunk) => swarm?.want(chunk, Atomics.load(board.written, chunk.index))

  async function untilWhole(chunk: Chunk, signal: AbortSignal) {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    const stall = setTimeout(() => reject(new TransferError(noPeers(chunk))), stallMs)
    const update = () => {
      stall.refresh()
      const bytes = pieces.countPrefixBytes(chunk)
      if (bytes > Atomics.load(board.written, chunk.index)) {
        Atomics.store(board.written, chunk.index, bytes)
      }
      if (bytes === chunk.size) resolve()
    }
    waiting.set(chunk.index, update)
    update()
    try {
      await promise
    } finally {
      clearTimeout(stall)
      waiting.delete(chunk.index)
      signal.removeEventListener('abort', onAbort)
    }
  }

  function noPeers({ index }: Chunk): TransferFailure {
    const error = trackerError()
    const detail = `no peer in the swarm is sending chunk ${index}`
    const failure: NetworkFailure =
      error instanceof NetworkError
        ? error.failure
        : { code: 'unreachable', reason: 'no_peers', host: registryLabel, detail }
    return { ...classifyNetworkError(failure), kind: 'lost' }
  }

  /**
   * Lets peers finish the pieces that they have begun to send. Otherwise, another source would have to send those
   * pieces again.
   */
  async function settle(chunk: Chunk, signal: AbortSignal) {
    const ended = AbortSignal.any([signal, AbortSignal.timeout(settleTimeoutMs)])
    // Pieces that have not arrived by then are requested from another source.
    await untilAborted(ended, swarm?.settle(chunk) ?? Promise.resolve()).catch(() => undefined)
  }

  return {
    slots,
    canGoOn: () => false,
    turn,
    onPiece,
    broughtBytes: () => bytesBySender.values().reduce((sum, bytes) => sum + bytes, 0),
    joins(joined: Swarm) {
      swarm = joined
      for (const chunk of waiting.keys()) want(manifest.chunks[chunk] as Chunk)
    },
    shares: () =>
      Array.from(bytesBySender, ([sender, bytes]) => ({
        name: sender === registryName ? registryLabel : sender,
        bytes,
        isPeer: sender !== registryName,
      })),

    async fetch({ chunk, signal }: ChunkTask, _slot, turn) {
      want(chunk)
      try {
        await untilWhole(chunk, AbortSignal.any([signal, turn]))
      } catch (error) {
        if (turn.aborted) await settle(chunk, signal)
        throw error
      } finally {
        swarm?.leave(chunk)
      }
      const sha256 = await checker.check(chunk)
      const by = pieces.listSenders(chunk).join(', ')
      if (sha256 !== chunk.sha256) pieces.forget(chunk)
      return { sha256, sender: by || diskName }
    },
  }
}
