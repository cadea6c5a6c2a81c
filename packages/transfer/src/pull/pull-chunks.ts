import type { Download, ModelFile, RegistryClient } from '@shoal/protocol/client'
import { VerificationError } from '../errors.ts'
import type { PullEvent } from '../events.ts'
import { patience as newPatience } from '../patience.ts'
import type { ProgressMeter } from '../progress-meter.ts'
import { untilAborted } from '../until-aborted.ts'
import { receivedBytes, writtenBytes } from './board.ts'
import { checkFormerRun } from './check-claimed.ts'
import { chunkLedger } from './chunk-ledger.ts'
import { chunkQueue } from './chunk-queue.ts'
import type { ChunkSource } from './chunk-source.ts'
import { type Crew, startCrew } from './crew.ts'
import { endureTrouble } from './endure-trouble.ts'
import { httpSource } from './http-source.ts'
import type { Chunk, Manifest } from './manifest.ts'
import type { PartialFile } from './partial-file.ts'
import { serveSource } from './serve-source.ts'
import type { Tuning } from './tuning.ts'

/** A chunk that came wrong so often will not come right. */
const mostBadTimes = 5
/** Now and then the disk is made to take what is there, so that a power loss costs little. More often slows the pull. */
const syncEveryMs = 5000

export type ChunkPull = {
  client: RegistryClient
  modelName: string
  file: ModelFile
  download: Download
  manifest: Manifest
  partial: PartialFile
  connections: number
  rateLimit: number | undefined
  tuning: Tuning
  meter: ProgressMeter
  signal: AbortSignal
  report: (event: PullEvent) => void
}

export type PulledChunks = {
  /** Of the whole file, as it is on disk. */
  sha256: string
  resumedBytes: number
  receivedBytes: number
  /** How many chunks came wrong, by sender. */
  dropped: Map<string, number>
}

/** Brings the partial file to where every chunk is trusted, and hashes the whole. */
export async function pullChunks(pull: ChunkPull): Promise<PulledChunks> {
  const { manifest, partial, connections, rateLimit, tuning } = pull
  const { path, board } = partial
  const stop = new AbortController()
  const signal = AbortSignal.any([pull.signal, stop.signal])
  const isInline = manifest.chunks.length <= tuning.inlineChunks
  const setup = { path, board, connections, rateLimit, stallMs: tuning.stallMs }
  const crew = await startCrew(setup, manifest, { isInline })
  try {
    return await untilAborted(signal, runCrew({ ...pull, signal }, crew))
  } finally {
    stop.abort(new Error('the pull is over'))
    await crew.close()
    partial.saveJournal()
  }
}

async function runCrew(pull: ChunkPull, { workers, hasher }: Crew): Promise<PulledChunks> {
  const { client, manifest, partial, tuning, rateLimit, signal, report } = pull
  const { board } = partial
  const ledger = chunkLedger(manifest, board, hasher.advance)
  await checkFormerRun(partial, { ledger, workers, report })
  const resumedBytes = writtenBytes(board)

  const movedBytes = () => writtenBytes(board)
  const patience = newPatience({ ...tuning, movedBytes, signal, report })
  const source = httpSource({ ...pull, baseUrl: client.baseUrl, board, workers })
  const dropped = new Map<string, number>()
  const queue = chunkQueue({
    manifest,
    board,
    ledger,
    tuning,
    hashedBytes: hasher.hashedBytes,
    mayDouble: rateLimit === undefined,
    signal,
    onBadChunk(chunk, { sender, sha256 }, times) {
      dropped.set(sender, (dropped.get(sender) ?? 0) + 1)
      report({ type: 'bad-chunk', index: chunk.index, source: sender })
      if (times >= mostBadTimes) throw alwaysBad(chunk, sha256, times)
    },
  })
  hasher.onProgress(queue.wake)
  signal.addEventListener('abort', queue.wake)
  const trouble = { ...pull, partialPath: partial.path, patience }
  const stopTicking = startTicking(pull, source, () => {
    patience.look()
    queue.wake()
  })
  try {
    await serveSource(source, {
      queue,
      board,
      patience,
      signal,
      onTrouble: (found, inARow) => endureTrouble(found, inARow, trouble),
    })
  } finally {
    stopTicking()
  }
  report({ type: 'verifying' })
  const sha256 = await hasher.digest
  return { sha256, resumedBytes, receivedBytes: receivedBytes(board), dropped }
}

/** Keeps journal, disk and onlookers up to date, once more at the end. */
function startTicking(
  { partial, tuning, meter, report }: ChunkPull,
  source: ChunkSource,
  onTick: () => void,
): () => void {
  let syncedAt = performance.now()
  const readProgress = (): PullEvent => {
    const speed = meter.read(writtenBytes(partial.board), receivedBytes(partial.board))
    return { type: 'progress', ...speed, sources: source.shares() }
  }
  const timer = setInterval(() => {
    const progress = readProgress()
    partial.saveJournal() // before it is shown: what was shown is not lost
    onTick()
    report(progress)
    if (performance.now() - syncedAt < syncEveryMs) return
    syncedAt = performance.now()
    partial.startSync()
  }, tuning.tickMs)
  return () => {
    clearInterval(timer)
    report(readProgress())
  }
}

function alwaysBad({ index, sha256 }: Chunk, actual: string, times: number) {
  const message = `chunk ${index} came with a wrong SHA-256 ${times} times`
  return new VerificationError(message, { expected: sha256, actual, chunkIndex: index })
}
