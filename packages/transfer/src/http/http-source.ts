import { type Download, NetworkError } from '@shoal/protocol/client'
import { type Board, receivedBytes } from '../chunks/board.ts'
import type { ChunkSource, ChunkTask } from '../chunks/chunk-source.ts'
import type { Manifest } from '../chunks/manifest.ts'
import type { PiecesHere } from '../chunks/pieces-here.ts'
import { TransferError, type TransferFailure } from '../failure.ts'
import type { ChunkRequest, ChunkWorker } from './chunk-worker.ts'

type Way = Pick<ChunkRequest, 'yields'> & { toUrl(sha256: string): string }

/**
 * Statuses that a registry or a store returns for a URL that has expired, was revoked or no longer
 * exists.
 */
const deadUrlStatuses = new Set([401, 403, 404, 410])

/**
 * The registry as a source of bytes. The URLs themselves grant access, so requests contain no credentials that could
 * reach another origin through a redirect. If one kind of URL is refused (the direct URL expires after a day), the next
 * kind is used. If all kinds are refused, and the URLs are from an earlier run or have delivered bytes, new URLs are
 * requested from the registry. This happens only once per pull, because such a request counts as a download.
 */
export function httpSource(options: {
  baseUrl: string
  download: Download
  manifest: Manifest
  board: Board
  pieces: PiecesHere
  workers: ChunkWorker[]
  connections: number
  turn: ChunkSource['turn']
  /** Whether `download` was saved by an earlier run and may be out of date. */
  isKept: boolean
  /** Requests new URLs from the registry. */
  renew: () => Promise<Download>
}): ChunkSource {
  const { download, manifest, board, pieces, workers, connections } = options
  let ways = listWays(options.baseUrl, download)
  const sender = new URL(download.direct_url).host
  let preferred = 0
  const refused = new Set<number>()
  let renewal: Promise<void> | undefined

  async function onRefusal(chosen: number, { status }: TransferFailure) {
    if (chosen === preferred) preferred = (preferred + 1) % ways.length
    if (status !== undefined && deadUrlStatuses.has(status)) refused.add(chosen)
    const wasOfUse = options.isKept || receivedBytes(board) > 0
    if (refused.size < ways.length || !wasOfUse) return
    renewal ??= renew()
    await renewal
  }

  async function renew() {
    try {
      ways = listWays(options.baseUrl, await options.renew())
      preferred = 0
      refused.clear()
    } catch (error) {
      if (!(error instanceof NetworkError)) throw error
      renewal = undefined // the refusal is still reported, and the next refusal causes another attempt
    }
  }

  return {
    slots: connections,
    canGoOn: () => ways[preferred]?.yields === 'file',
    turn: options.turn,
    shares: () => [{ name: sender, bytes: receivedBytes(board), isPeer: false }],

    async fetch({ chunk, from, timesBad, signal }: ChunkTask, slot, turn) {
      const chosen = (preferred + timesBad) % ways.length
      const { yields, toUrl } = ways[chosen] as Way
      const worker = workers[slot % workers.length] as ChunkWorker
      const isFileUrl = yields === 'file'
      const asked = {
        url: toUrl(isFileUrl ? manifest.sha256 : chunk.sha256),
        yields,
        fileSizeBytes: manifest.fileSizeBytes,
        chunk,
      }
      const ended = AbortSignal.any([signal, turn])

      /** Sends one request for each gap, so that pieces from peers are not requested again. */
      async function fetchFrom(at: number): Promise<string> {
        const part = isFileUrl ? pieces.findGap(chunk, at) : { from: 0, to: chunk.size }
        const sha256 = await worker.fetch({ ...asked, ...part }, ended)
        return part.to === chunk.size ? sha256 : fetchFrom(part.to)
      }

      const tried = ways
      const sha256 = await fetchFrom(from).catch(async (error) => {
        const isRefused = error instanceof TransferError && error.transferFailure.kind === 'refused'
        if (isRefused && tried === ways) await onRefusal(chosen, error.transferFailure)
        throw error
      })
      refused.clear()
      const senders = [sender, ...(isFileUrl ? pieces.listSenders(chunk) : [])]
      if (sha256 !== chunk.sha256) pieces.forget(chunk)
      return { sha256, sender: senders.join(', ') }
    },
  }
}

/** The URLs that return the whole file and support range requests. */
export const fileUrls = (baseUrl: string, download: Download, sha256: string): string[] =>
  listWays(baseUrl, download)
    .filter(({ yields }) => yields === 'file')
    .map(({ toUrl }) => toUrl(sha256))

/**
 * The kinds of URLs: the direct URL, the URL of the file by its hash, and the URL of a chunk by its hash. The last two
 * redirect to new presigned URLs.
 */
function listWays(baseUrl: string, { direct_url, magnet_uri }: Download): Way[] {
  const byHash = (sha256: string) => `${baseUrl}/v1/files/chunks/${sha256}`
  const token = parseToken(magnet_uri)
  return [
    { yields: 'file', toUrl: () => direct_url },
    { yields: 'file', toUrl: (sha256) => byHash(sha256) + token },
    { yields: 'chunk', toUrl: (sha256) => byHash(sha256) + token },
  ]
}

/**
 * Returns the token that gives access to the bytes of a private model, with a leading slash; empty for a public model.
 * The token is at the end of a private model's web seed URL: `…/chunks/<sha256>/<token>`.
 */
function parseToken(magnet: string): string {
  const webSeed = new URL(magnet).searchParams.get('ws') ?? ''
  return /\/chunks\/[0-9a-f]{64}(\/[^/?#]+)$/.exec(webSeed)?.[1] ?? ''
}
