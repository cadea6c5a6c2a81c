import { createHash } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import type { NetworkSettings } from '@shoal/network'
import { openNetwork } from '@shoal/network/requests'
import type { Board } from '../chunks/board.ts'
import type { Chunk } from '../chunks/manifest.ts'
import { hashPart } from '../disk/hash-part.ts'
import type { ChunkWorker } from '../http/chunk-worker.ts'
import { fetchChunk } from '../http/fetch-chunk.ts'
import { rateLimit } from '../rate-limit.ts'

export type WorkerSetup = {
  path: string
  /** Maximum number of parallel connections; 0 for a worker that only verifies. */
  connections: number
  /** How long a connection may be silent. */
  stallMs: number
  network: NetworkSettings
  board: Board
}

/** Creates a worker in this thread. `onBuffer` is called with the size of each buffer that becomes garbage. */
export function inlineChunkWorker(
  setup: WorkerSetup,
  onBuffer: (bytes: number) => void = () => undefined,
): ChunkWorker {
  const { board, stallMs } = setup
  const fd = openSync(setup.path, setup.connections > 0 ? 'r+' : 'r')
  const limit = rateLimit(board.clock)
  const network = openNetwork(setup.network, {
    connections: Math.max(1, setup.connections),
    sharesBuffer: true,
  })

  async function check({ start, size }: Chunk) {
    const hash = createHash('sha256')
    hashPart(fd, hash, start, size)
    return hash.digest('hex')
  }

  return {
    async fetch(request, signal) {
      const { chunk, from } = request
      // All bytes of the chunk are already on disk, perhaps because an earlier request failed after the last byte. Only
      // hash the chunk, because an empty range cannot be requested.
      if (from === chunk.size) return check(chunk)
      const tools = { network, fd, board, limit, stallMs, onBuffer }
      return fetchChunk(tools, request, signal)
    },

    check,

    async close() {
      await network.destroy()
      closeSync(fd)
    },
  }
}
