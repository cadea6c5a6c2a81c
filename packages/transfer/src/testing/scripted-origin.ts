import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type SyntheticFile, toDownload, toModelFile } from './synthetic-file.ts'

/**
 * How the bytes were requested: by the direct URL, or by the hash of the file or the chunk, after a
 * redirect.
 */
export type Way = 'direct' | 'file' | 'chunk'

export type BytesRequest = {
  way: Way
  /** The chunk that contains the first requested byte. */
  index: number
  /** Number of earlier requests for the chunk, in any of the three ways. */
  before: number
  start: number
  end: number
}

/** What is wrong with a response. */
export type Misbehaviour =
  | { status: number; headers?: Record<string, string>; body?: string }
  | { flipByteAt: number }
  | { cutAfter: number }
  | { stallAfter: number }
  | { resetAfter: number }
  | { bytesPerSecond: number }
  | { wholeFile: true }

export type ScriptedOrigin = {
  url: string
  script: (request: BytesRequest) => Misbehaviour | undefined
  /** If set, the response to every request, including API calls. */
  outage: { status: number; headers?: Record<string, string> } | undefined
  /** The speed limit that all connections share; undefined for no limit. */
  line: { bytesPerSecond: number; freeAt: number } | undefined
  requests: (BytesRequest & { authorization: string | undefined })[]
  /** Number of calls to the download endpoint. A registry counts each of them as a download. */
  downloads: number
  isDeleted: boolean
  /** The tracker and the torrent in the response to a download; undefined for none. */
  swarm: { announce: string; torrent: Uint8Array | undefined; infoHash: string } | undefined
  /** Responses to requests for the torrent are delayed until this promise resolves. */
  beforeTorrent: Promise<void> | undefined
  /** Closes the port and all connections. `open` listens on the same port again. */
  close(): Promise<void>
  open(): Promise<void>
}

/** A registry with one file. It can fail in the same ways as real registries and networks. */
export async function startScriptedOrigin(file: SyntheticFile): Promise<ScriptedOrigin> {
  let server: Server | undefined
  let port = 0
  const origin: ScriptedOrigin = {
    url: '',
    script: () => undefined,
    outage: undefined,
    line: undefined,
    beforeTorrent: undefined,
    requests: [],
    downloads: 0,
    isDeleted: false,
    swarm: undefined,
    async open() {
      server = createServer((request, response) => answer(origin, file, request, response))
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
      port = (server.address() as AddressInfo).port
      origin.url = `http://127.0.0.1:${port}`
    },
    async close() {
      const closed = new Promise((resolve) => server?.close(resolve))
      server?.closeAllConnections()
      await closed
    },
  }
  await origin.open()
  return origin
}

function answer(
  origin: ScriptedOrigin,
  file: SyntheticFile,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const { pathname } = new URL(request.url ?? '/', origin.url)
  const [, first, second, third, hash] = pathname.split('/')
  if (origin.outage) return end(response, origin.outage)
  if (first === 'blob') return sendBytes(origin, file, request, response)
  if (origin.isDeleted) return end(response, { status: 404, body: '{"detail":"no such file"}' })
  if (second === 'files' && third === 'chunks') {
    const isFile = hash === file.sha256
    const index = file.chunks.findIndex((chunk) => chunk.hash === hash)
    const location = isFile ? '/blob/file' : `/blob/chunk/${index}`
    return end(response, { status: 302, headers: { location } })
  }
  if (pathname.includes('/download/')) {
    origin.downloads += 1
    const download = toDownload(file, origin.url, origin.swarm)
    return end(response, { status: 200, body: JSON.stringify(download) })
  }
  if (pathname.includes('/torrent/')) return sendTorrent(origin, response)
  if (second === 'models') {
    return end(response, { status: 200, body: JSON.stringify(toModelFile(file)) })
  }
  end(response, { status: 404, body: '{"detail":"not found"}' })
}

async function sendTorrent(origin: ScriptedOrigin, response: ServerResponse) {
  await origin.beforeTorrent
  const torrent = origin.swarm?.torrent
  if (torrent) response.end(torrent)
  else end(response, { status: 404, body: '{"detail":"not found"}' })
}

type Plain = { status: number; headers?: Record<string, string>; body?: string }

function end(response: ServerResponse, { status, headers, body = '' }: Plain) {
  response.writeHead(status, headers).end(body)
}

async function sendBytes(
  origin: ScriptedOrigin,
  file: SyntheticFile,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const [, , way, place] = new URL(request.url ?? '/', origin.url).pathname.split('/')
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '')
  const chunkStart = Number(place ?? 0) * file.chunkSize
  const start = range ? Number(range[1]) : chunkStart
  const wholeEnd = way === 'chunk' ? chunkStart + file.chunkSize : file.bytes.length
  const stop = Math.min(file.bytes.length, range ? Number(range[2]) + 1 : wholeEnd)
  const index = Math.floor(start / file.chunkSize)
  const before = origin.requests.filter((one) => one.index === index).length
  const asked: BytesRequest = { way: way as Way, index, before, start, end: stop }
  origin.requests.push({ ...asked, authorization: request.headers.authorization })

  const wrong = origin.script(asked)
  if (wrong && 'status' in wrong) return end(response, wrong)
  const isWhole = wrong !== undefined && 'wholeFile' in wrong
  const bytes = isWhole ? file.bytes : Buffer.from(file.bytes.subarray(start, stop))
  const isRange = range !== null && !isWhole
  response.writeHead(isRange ? 206 : 200, {
    'content-type': 'application/octet-stream',
    'content-length': bytes.length,
    ...(isRange && { 'content-range': `bytes ${start}-${stop - 1}/${file.bytes.length}` }),
  })
  if (wrong !== undefined && 'bytesPerSecond' in wrong) {
    return sendSlowly(response, bytes, () => origin.script(asked))
  }
  if (wrong !== undefined && !isWhole) return sendWrongly(response, bytes, wrong)
  if (origin.line === undefined) return response.end(bytes)
  await sendInTurn(response, bytes, origin.line)
}

/** Sends bytes within the speed limit that all connections share. */
async function sendInTurn(
  response: ServerResponse,
  bytes: Buffer,
  line: { bytesPerSecond: number; freeAt: number },
) {
  const step = 16 * 1024
  for (let at = 0; at < bytes.length && !response.destroyed; at += step) {
    const part = bytes.subarray(at, at + step)
    const now = performance.now()
    line.freeAt = Math.max(line.freeAt, now - 50) + (part.length / line.bytesPerSecond) * 1000
    if (line.freeAt > now) await sleep(line.freeAt - now)
    response.write(part)
  }
  response.end()
}

function sendWrongly(response: ServerResponse, bytes: Buffer, wrong: Misbehaviour) {
  if ('flipByteAt' in wrong) {
    bytes[wrong.flipByteAt] = (bytes[wrong.flipByteAt] ?? 0) ^ 1
    response.end(bytes)
  } else if ('cutAfter' in wrong) {
    response.write(bytes.subarray(0, wrong.cutAfter), () => response.socket?.end())
  } else if ('stallAfter' in wrong) {
    response.write(bytes.subarray(0, wrong.stallAfter))
  } else if ('resetAfter' in wrong) {
    response.write(bytes.subarray(0, wrong.resetAfter), () => response.socket?.resetAndDestroy())
  }
}

/** Sends bytes at the speed that `script` returns, which may change, or the rest at once if it returns none. */
async function sendSlowly(
  response: ServerResponse,
  bytes: Buffer,
  script: () => Misbehaviour | undefined,
) {
  for (let at = 0; at < bytes.length && !response.destroyed; ) {
    const now = script()
    const isSlow = now !== undefined && 'bytesPerSecond' in now
    const step = isSlow ? Math.max(1, Math.floor(now.bytesPerSecond / 20)) : bytes.length
    response.write(bytes.subarray(at, at + step))
    at += step
    if (isSlow) await sleep(50)
  }
  response.end()
}
