import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { makeGguf } from '@shoal/model-file/testing'
import type { Download, ModelFile } from '@shoal/protocol/client'
import { onTestFinished } from 'vitest'

const elements = 512 * 1024

/** Starts a registry with one file. Each download stops halfway, and continues only after `goOn` is called. */
export async function haltingRegistry() {
  const tensors = [{ name: 'token_embd.weight', shape: [elements], type: 'F32' }]
  const bytes = Buffer.from(makeGguf({ metadata: { 'general.architecture': 'llama' }, tensors }))
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const goOn = Promise.withResolvers<void>()
  /** The responses to downloads whose clients are still connected. */
  const open = new Set<ServerResponse>()

  async function sendBytes({ headers }: IncomingMessage, response: ServerResponse) {
    const [, from = '0'] = /bytes=(\d+)-/.exec(headers.range ?? '') ?? []
    const start = Number(from)
    open.add(response)
    response.on('close', () => open.delete(response))
    response.writeHead(206, {
      'content-length': bytes.length - start,
      'content-range': `bytes ${start}-${bytes.length - 1}/${bytes.length}`,
    })
    const half = start + Math.floor((bytes.length - start) / 2)
    response.write(bytes.subarray(start, half))
    await goOn.promise
    response.end(bytes.subarray(half))
  }

  const server = createServer((request, response) => {
    const { url = '' } = request
    if (url === '/bytes') return void sendBytes(request, response)
    const answer = url.includes('/download/') ? download() : [file()]
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const size = { file_size_bytes: bytes.length, sha256_hash: sha256 }

  const file = (): Partial<ModelFile> => ({
    id: 'f',
    model_id: 'm',
    filename: 'slow-F32.gguf',
    quantization: 'F32',
    ...size,
  })
  const download = (): Partial<Download> => ({
    direct_url: `${address}/bytes`,
    magnet_uri: 'magnet:?xt=urn:btih:0',
    chunk_hashes: [{ index: 0, hash: sha256, size: bytes.length }],
    ...size,
  })

  return { address, bytes, goOn: goOn.resolve, openDownloads: () => open.size }
}
