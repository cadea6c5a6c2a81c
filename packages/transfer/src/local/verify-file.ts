import { stat } from 'node:fs/promises'
import { untilAborted } from '@shoal/core/async'
import { directNetwork } from '@shoal/network'
import { newBoard } from '../chunks/board.ts'
import { checkClaimed } from '../chunks/check-claimed.ts'
import { chunkLedger } from '../chunks/chunk-ledger.ts'
import { makeTuning } from '../chunks/tuning.ts'
import { type LocalFileRecord, readRecord } from '../disk/record.ts'
import { toManifest } from '../disk/record-manifest.ts'
import { startChunkWorkers } from '../workers/worker-pool.ts'

export type VerifyOptions = {
  path: string
  signal?: AbortSignal | undefined
  onProgress?: ((progress: { bytesDone: number; bytesTotal: number }) => void) | undefined
}

export type VerifyResult =
  | { status: 'intact'; record: LocalFileRecord }
  /** `sizeBytes` is the current size. A file that is shorter or longer than recorded is also damaged. */
  | { status: 'damaged'; record: LocalFileRecord; badChunks: number[]; sizeBytes: number }
  /** There is no record with the file's hashes. */
  | { status: 'no-record' }

/**
 * Hashes a file again, and lists the chunks that no longer match its record.
 * @example
 * import { verifyFile } from '@shoal/transfer'
 *
 * const result = await verifyFile({ path: 'models/tide/tide.gguf' })
 * if (result.status === 'damaged') console.log(result.badChunks)
 */
export async function verifyFile({
  path,
  signal = new AbortController().signal,
  onProgress,
}: VerifyOptions): Promise<VerifyResult> {
  const { size: sizeBytes } = await stat(path)
  const record = await readRecord(path)
  if (record === undefined) return { status: 'no-record' }

  const manifest = toManifest(record)
  const bytesTotal = manifest.fileSizeBytes
  const board = newBoard(manifest.chunks.length)
  const ledger = chunkLedger(manifest, board, () => undefined)
  const isInline = manifest.chunks.length <= makeTuning({}).inlineChunks
  const setup = {
    path,
    board,
    connections: 0,
    stallMs: 0,
    network: directNetwork,
  }
  const workers = await startChunkWorkers(setup, { isInline })
  try {
    const checking = checkClaimed(manifest.chunks, ledger, workers, (bytesDone) =>
      onProgress?.({ bytesDone, bytesTotal }),
    )
    const bad = await untilAborted(signal, checking)
    if (bad.length === 0 && sizeBytes === bytesTotal) return { status: 'intact', record }
    const badChunks = bad.map(({ index }) => index).sort((one, other) => one - other)
    return { status: 'damaged', record, badChunks, sizeBytes }
  } finally {
    await Promise.all(workers.map((worker) => worker.close()))
  }
}
