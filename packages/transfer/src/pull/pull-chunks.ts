import { untilAborted } from '@shoal/core/async'
import type { NetworkSettings } from '@shoal/network'
import type { Download, ModelFile, RegistryClient } from '@shoal/protocol/client'
import { receivedBytes, writtenBytes } from '../chunks/board.ts'
import { chunkLedger } from '../chunks/chunk-ledger.ts'
import { chunkQueue } from '../chunks/chunk-queue.ts'
import type { Chunk, Manifest } from '../chunks/manifest.ts'
import { serveSource } from '../chunks/serve-source.ts'
import type { Tuning } from '../chunks/tuning.ts'
import { getFilePaths } from '../disk/file-paths.ts'
import type { PartialFile } from '../disk/partial-file.ts'
import { verificationFailed } from '../errors.ts'
import type { PullEvent, SourceShare } from '../events.ts'
import type { TransferFailure } from '../failure.ts'
import type { ChunkWorker } from '../http/chunk-worker.ts'
import { fileUrls, httpSource } from '../http/http-source.ts'
import { followLimit, type Limit, readLimit } from '../limit.ts'
import { joinPeers, type PeerSettings, type Peers } from '../peers/join-peers.ts'
import type { ProgressMeter } from '../progress-meter.ts'
import { setRate } from '../rate-limit.ts'
import { createRetrier } from '../retrier.ts'
import { startWorkerPool, type WorkerPool } from '../workers/worker-pool.ts'
import { checkFormerRun } from './check-former-run.ts'
import { handleFailure } from './handle-failure.ts'

/** The pull fails if the same chunk has arrived damaged this many times. */
const maxBadTimes = 5
/**
 * How often data is flushed to disk. Flushing limits how much data a power loss can destroy, but flushing more often
 * would slow down the pull.
 */
const syncEveryMs = 5000

export type ChunkPull = {
  /** The path of the finished file. */
  path: string
  client: RegistryClient
  modelName: string
  file: ModelFile
  download: Download
  manifest: Manifest
  /** Whether `download` was saved by an earlier run. */
  isKept: boolean
  /** Requests a new `download` from the registry. */
  renew: () => Promise<Download>
  partial: PartialFile
  connections: number
  rateLimit: Limit | undefined
  peerSettings: PeerSettings
  network: NetworkSettings
  tuning: Tuning
  meter: ProgressMeter
  signal: AbortSignal
  report: (event: PullEvent) => void
}

export type PulledChunks = {
  /** The SHA-256 of the whole file, as read from disk. */
  sha256: string
  resumedBytes: number
  receivedBytes: number
  /** All senders of bytes, valid or not. */
  sources: SourceShare[]
  /** Number of damaged chunks by sender. */
  dropped: Map<string, number>
}

/** Completes the partial file chunk by chunk, and hashes the whole file. */
export async function pullChunks(pull: ChunkPull): Promise<PulledChunks> {
  const { manifest, partial, connections, rateLimit, tuning } = pull
  const { path, board } = partial
  const stop = new AbortController()
  const signal = AbortSignal.any([pull.signal, stop.signal])
  const isInline = manifest.chunks.length <= tuning.inlineChunks
  const { stallMs } = tuning
  const setup = { path, board, connections, stallMs, network: pull.network }
  setRate(board.clock, readLimit(rateLimit))
  const stopFollowing = followLimit(rateLimit, (limit) => setRate(board.clock, limit))
  const pool = await startWorkerPool(setup, manifest, { isInline })
  try {
    return await untilAborted(signal, runWorkers({ ...pull, signal }, pool))
  } finally {
    stop.abort(new Error('the pull is over'))
    stopFollowing()
    await pool.close()
    partial.saveJournal()
  }
}

async function runWorkers(pull: ChunkPull, { workers, hasher }: WorkerPool): Promise<PulledChunks> {
  const { client, manifest, partial, tuning, rateLimit, signal, report } = pull
  const { board } = partial
  let peers: Peers | undefined
  const onTrusted = (chunk: Chunk) => peers?.onTrusted(chunk)
  const ledger = chunkLedger(manifest, board, hasher.advance, onTrusted)
  await checkFormerRun(partial, { ledger, checkers: workers, report })
  const resumedBytes = writtenBytes(board)

  const dropped = new Map<string, number>()
  const lost = Promise.withResolvers<never>()
  peers = joinPeers({
    ...pull,
    ...pull.peerSettings,
    board,
    ledger,
    path: partial.path,
    contactPath: getFilePaths(pull.path).contact,
    checker: workers[0] as ChunkWorker,
    downloadLimit: rateLimit,
    registryUrls: fileUrls(client.baseUrl, pull.download, manifest.sha256),
    onBanned: (peer) => dropped.set(peer, (dropped.get(peer) ?? 0) + 1),
    onFailure(error) {
      if (pull.peerSettings.peers === 'only') lost.reject(error)
      else report({ type: 'without-peers', reason: error.message })
    },
  })
  const { source: swarm, pieces, registryTurn: turn } = peers
  const registry = httpSource({ ...pull, baseUrl: client.baseUrl, board, pieces, workers, turn })
  const sources = [registry, swarm]
  const shares = () => sharesByName(sources.flatMap((source) => source.shares()))
  const movedBytes = () => writtenBytes(board) + pieces.looseBytes()
  const retrier = createRetrier({ ...tuning, movedBytes, signal, report })
  const queue = chunkQueue({
    manifest,
    board,
    ledger,
    tuning,
    hashedBytes: hasher.hashedBytes,
    mayRestart: rateLimit === undefined,
    signal,
    onBadChunk(chunk, { sender, sha256 }, times) {
      dropped.set(sender, (dropped.get(sender) ?? 0) + 1)
      report({ type: 'bad-chunk', index: chunk.index, source: sender })
      if (times >= maxBadTimes) throw alwaysBad(chunk, sha256, times)
    },
  })
  hasher.onProgress(queue.wake)
  signal.addEventListener('abort', queue.wake)
  const failureContext = { ...pull, partialPath: partial.path, retrier }
  const stopTicking = startTicking(pull, { shares, movedBytes }, () => {
    retrier.poll()
    queue.wake()
  })
  const ending = new AbortController()
  try {
    const serving = {
      queue,
      board,
      retrier,
      signal: AbortSignal.any([signal, ending.signal]),
      onFailure: (found: TransferFailure, inARow: number) =>
        handleFailure(found, inARow, failureContext),
    }
    const served = sources.map((source) =>
      serveSource(source, serving).then(
        () => peers?.finish(),
        (error) => {
          // Stops the other source before `close` ends its wait for a turn. Otherwise, that source would begin to fetch
          // chunks.
          ending.abort(error)
          throw error
        },
      ),
    )
    await Promise.race([Promise.all(served), lost.promise])
  } catch (error) {
    ending.abort(error)
    stopTicking()
    await leave(peers, report)
    throw error
  }
  stopTicking()
  report({ type: 'verifying' })
  const left = leave(peers, report) // not awaited yet: the file is hashed while the tracker responds
  const sha256 = await hasher.digest.finally(() => left)
  const bytes = receivedBytes(board) + swarm.broughtBytes()
  return {
    sha256,
    resumedBytes,
    receivedBytes: bytes,
    sources: shares().filter(({ bytes }) => bytes > 0),
    dropped,
  }
}

/** Leaves the swarm. An error is reported but does not fail the pull, because the downloaded bytes are not affected. */
async function leave(peers: Peers, report: ChunkPull['report']): Promise<void> {
  await peers.close().catch((error: Error) => {
    report({ type: 'without-peers', reason: `could not leave the swarm cleanly: ${error.message}` })
  })
}

/**
 * Adds up the shares that have the same name. The registry can have several shares, because it sends bytes both
 * directly and as a member of the swarm.
 */
export function sharesByName(shares: SourceShare[]): SourceShare[] {
  return [...Map.groupBy(shares, ({ name }) => name)].map(([name, same]) => ({
    name,
    bytes: same.reduce((sum, { bytes }) => sum + bytes, 0),
    isPeer: same.every(({ isPeer }) => isPeer),
  }))
}

/** Regularly saves the journal, flushes data to disk and reports progress. Reports progress once more at the end. */
function startTicking(
  { partial, tuning, meter, report }: ChunkPull,
  { shares, movedBytes }: { shares: () => SourceShare[]; movedBytes: () => number },
  onTick: () => void,
): () => void {
  let syncedAt = performance.now()
  const readProgress = (): PullEvent => {
    const sources = shares()
    const received = sources.reduce((sum, { bytes }) => sum + bytes, 0)
    return { type: 'progress', ...meter.read(movedBytes(), received), sources }
  }
  const timer = setInterval(() => {
    const progress = readProgress()
    partial.saveJournal() // before reporting progress, so that the reported progress survives a crash
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
  const message = `chunk ${index} arrived ${times} times with the wrong SHA-256`
  return verificationFailed(message, { expected: sha256, actual, chunkIndex: index })
}
