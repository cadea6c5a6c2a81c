import type { Transform } from 'node:stream'
import zlib from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { Fault } from '../errors.ts'

type Decoder = Transform & { bytesWritten: number }

const decoders = new Map<string, () => Decoder>([
  ['gzip', zlib.createGunzip],
  ['deflate', zlib.createInflate],
  ['br', zlib.createBrotliDecompress],
])
// Node versions before 22.15 lack this function, so it cannot be imported by name.
if (zlib.createZstdDecompress) decoders.set('zstd', zlib.createZstdDecompress)

/**
 * Decompresses bodies with a `Content-Encoding` (RFC 9110, section 8.4). Ollama does so too, because Codex compresses
 * long conversations. The limit on the size of a body applies to the decompressed body.
 */
export function decompressBodies(app: FastifyInstance) {
  app.addHook('preParsing', async ({ headers }, _reply, payload) => {
    const encoding = headers['content-encoding']?.toLowerCase() ?? 'identity'
    if (encoding === 'identity') return payload
    const decoder = decoders.get(encoding)?.()
    if (!decoder) {
      const known = [...decoders.keys()].join(', ')
      throw new Fault(415, `Content-Encoding must be one of ${known}, not ${encoding}`)
    }
    // Fastify compares this with Content-Length.
    Object.defineProperty(decoder, 'receivedEncodedLength', { get: () => decoder.bytesWritten })
    payload.on('error', (error) => decoder.destroy(error))
    decoder.on('error', (error) => {
      error.message = `the body is not valid ${encoding}: ${error.message}`
    })
    return payload.pipe(decoder)
  })
}
