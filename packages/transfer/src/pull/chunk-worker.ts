/** Hands that fetch and check chunks of one partial file: in this thread, or in a thread of their own. */
import { createHash } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import type { NetworkSettings } from '@shoal/network'
import { openNetwork } from '@shoal/network/requests'
import { rateLimit } from '../rate-limit.ts'
import type { Board } from './board.ts'
import { type ChunkRequest, fetchChunk } from './fetch-chunk.ts'
import { hashPart } from './hash-part.ts'
import type { Chunk } from './manifest.ts'

export type WorkerSetup = {
  path: string
  /** What it may open at a time. 0 for hands that only check. */
  connections: number
  rateLimit: number | undefined
  stallMs: number
  network: NetworkSettings
  board: Board
}

export type ChunkWorker = {
  /** Fetches what was asked for of the chunk, and answers the chunk's SHA-256 up to there. */
  fetch(request: ChunkRequest, signal: AbortSignal): Promise<string>
  /** The SHA-256 of what the file holds in the chunk's place. */
  check(chunk: Chunk): Promise<string>
  /** At once: what is running fails. */
  close(): Promise<void>
}

/** `onBytes` is told of every arrival. */
export function inlineChunkWorker(
  setup: WorkerSetup,
  onBytes: (bytes: number) => void = () => undefined,
): ChunkWorker {
  const { board, stallMs } = setup
  const fd = openSync(setup.path, setup.connections > 0 ? 'r+' : 'r')
  const limit = rateLimit(setup.rateLimit, board.clock)
  const network = openNetwork(setup.network, { connections: Math.max(1, setup.connections) })

  async function check({ start, size }: Chunk) {
    const hash = createHash('sha256')
    hashPart(fd, hash, start, size)
    return hash.digest('hex')
  }

  return {
    async fetch(request, signal) {
      const { chunk, from } = request
      // Its last bytes are here, or a former request broke after them: an empty range cannot be asked for.
      if (from === chunk.size) return check(chunk)
      const tools = { network, fd, board, limit, stallMs, onBytes }
      return fetchChunk(tools, request, signal)
    },

    check,

    async close() {
      await network.destroy()
      closeSync(fd)
    },
  }
}
