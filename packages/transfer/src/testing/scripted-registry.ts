import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { MissingChunk, ModelFile, NewFile } from '@shoal/protocol/client'
import { computeSha256, toModelFile } from './synthetic-file.ts'

export type PutRequest = {
  index: number
  /** Number of earlier requests that sent this chunk. */
  before: number
  url: string
}

export type PutMisbehaviour =
  | { status: number; headers?: Record<string, string>; body?: string; isEarly?: boolean }
  | { reset: true }
  /** Damages the received bytes, as a bad connection might. */
  | { flip: true }

export type ScriptedRegistry = {
  url: string
  script: (request: PutRequest) => PutMisbehaviour | undefined
  puts: PutRequest[]
  stored: Map<number, Buffer>
  file: ModelFile | undefined
  /** Whether to reset the connection of the first `complete` call once the file has been processed. */
  losesFirstComplete: boolean
  /** Called after each `complete` call to set the file's status. */
  process: (registry: ScriptedRegistry) => void
  close(): Promise<void>
}

/** A registry that keeps one uploaded file in memory, and fails as scripted. */
export async function startScriptedRegistry(): Promise<ScriptedRegistry> {
  let manifest: NewFile | undefined
  let urlVersion = 0
  const server = createServer((request, response) => {
    answer(request, response).catch((error) => response.destroy(error))
  })
  const registry: ScriptedRegistry = {
    url: '',
    script: () => undefined,
    puts: [],
    stored: new Map(),
    file: undefined,
    losesFirstComplete: false,
    process: (given) => setStatus(given, 'ready', null),
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }

  function missing(from: number, limit: number) {
    const all = (manifest?.chunk_hashes ?? []).filter(({ index }) => !registry.stored.has(index))
    urlVersion += 1
    const missing_chunks: MissingChunk[] = all
      .filter(({ index }) => index >= from)
      .slice(0, limit)
      .map((chunk) => ({
        ...chunk,
        url: `${registry.url}/put/${chunk.index}/${urlVersion}`,
        headers: { 'x-signed': 'yes' },
      }))
    return {
      expires_at: '2030-01-01T00:00:00.000Z',
      missing_chunks,
      missing_count: all.length,
    }
  }

  async function answer(request: IncomingMessage, response: ServerResponse) {
    const url = new URL(request.url ?? '/', registry.url)
    const parts = url.pathname.split('/')
    const json = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (parts[1] === 'put') return take(request, response, Number(parts[2]), url.pathname)
    if (parts.at(-1) === 'upload') {
      const query = url.searchParams
      return json(200, missing(Number(query.get('from')), Number(query.get('limit'))))
    }
    if (parts.at(-1) === 'complete') {
      await readBody(request)
      if (registry.file?.status === 'failed') return json(409, { detail: 'start it again' })
      const missing_count = missing(0, 0).missing_count
      if (missing_count > 0) return json(409, { detail: 'chunks are missing', missing_count })
      if (registry.losesFirstComplete) {
        registry.losesFirstComplete = false
        registry.process(registry)
        return request.socket.resetAndDestroy()
      }
      setStatus(registry, 'processing', null)
      setTimeout(() => registry.process(registry), 50)
      return json(202, registry.file)
    }
    if (parts.at(-1) !== 'files') return json(200, registry.file)
    if (request.method === 'GET') return json(200, registry.file ? [registry.file] : [])
    const given: NewFile = JSON.parse((await readBody(request)).toString())
    manifest = given
    const { filename, file_size_bytes, sha256_hash, chunk_size } = given
    const base = toModelFile({ bytes: Buffer.alloc(0), chunkSize: 0, sha256: '', chunks: [] })
    const named = { filename, file_size_bytes, sha256_hash, chunk_size }
    registry.file = { ...base, ...named, status: 'uploading' }
    return json(201, { ...registry.file, upload: missing(0, 2) }) // a real registry lists 100 chunks at first
  }

  async function take(
    request: IncomingMessage,
    response: ServerResponse,
    index: number,
    url: string,
  ) {
    const before = registry.puts.filter((one) => one.index === index).length
    const put = { index, before, url }
    registry.puts.push(put)
    const wrong = registry.script(put)
    if (wrong && 'reset' in wrong) return request.socket.resetAndDestroy()
    if (wrong && 'status' in wrong && wrong.isEarly) return end(response, wrong)
    const bytes = await readBody(request)
    if (wrong && 'status' in wrong) return end(response, wrong)
    if (wrong && 'flip' in wrong) bytes[0] = (bytes[0] ?? 0) ^ 1
    const isRight = computeSha256(bytes) === manifest?.chunk_hashes[index]?.hash
    const body = JSON.stringify({ detail: 'the chunk has another hash', code: 'chunk_mismatch' })
    if (!isRight || request.headers['x-signed'] !== 'yes')
      return end(response, { status: 400, body })
    registry.stored.set(index, bytes)
    end(response, { status: 204 })
  }

  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  registry.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return registry
}

export function setStatus(
  registry: ScriptedRegistry,
  status: ModelFile['status'],
  status_detail: string | null,
) {
  if (registry.file) registry.file = { ...registry.file, status, status_detail }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts)
}

type Plain = { status: number; headers?: Record<string, string>; body?: string }

function end(response: ServerResponse, { status, headers, body = '' }: Plain) {
  response.writeHead(status, headers).end(body)
}
