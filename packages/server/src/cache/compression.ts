import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Whether the route's responses are compressed. Never set this for a route whose responses contain a token, a
     * session, an API key or a presigned URL: if an attacker can choose a part of a response, the length of the
     * compressed response can reveal the rest (the BREACH attack).
     */
    isCompressible?: boolean
  }
}

/** A content coding (RFC 9110 §8.4.1). */
export type Encoding = 'br' | 'gzip'

/** Shorter bodies are sent in the same packet as their headers, so compressing them would save nothing. */
export const minCompressedBytes = 1_000

/** Maximum length of an `Accept-Encoding` header; a longer one is ignored. Browsers send fewer than 40 characters. */
const maxHeaderLength = 200

const qualities = {
  br: /(?:^|,)[ \t]*br[ \t]*(?:;[ \t]*q=([\d.]+)[ \t]*)?(?:,|$)/i,
  gzip: /(?:^|,)[ \t]*gzip[ \t]*(?:;[ \t]*q=([\d.]+)[ \t]*)?(?:,|$)/i,
  any: /(?:^|,)[ \t]*\*[ \t]*(?:;[ \t]*q=([\d.]+)[ \t]*)?(?:,|$)/,
}

/**
 * Returns the encoding that the client prefers, or Brotli if the client has no preference. Returns undefined if the
 * client accepts neither Brotli nor gzip.
 */
export function chooseEncoding(acceptEncoding: string | undefined): Encoding | undefined {
  if (!acceptEncoding || acceptEncoding.length > maxHeaderLength) return undefined
  const any = readQuality(acceptEncoding, 'any') ?? 0
  const br = readQuality(acceptEncoding, 'br') ?? any
  const zipped = readQuality(acceptEncoding, 'gzip') ?? any
  if (br > 0 && br >= zipped) return 'br'
  return zipped > 0 ? 'gzip' : undefined
}

function readQuality(acceptEncoding: string, coding: keyof typeof qualities): number | undefined {
  const found = qualities[coding].exec(acceptEncoding)
  return found ? Number(found[1] ?? 1) : undefined
}

/** Whether the representation of the response depends on `Accept-Encoding`. */
export function isCompressible({ method, route }: FastifyRequest, reply: FastifyReply): boolean {
  if (!route.config.isCompressible || (method !== 'GET' && method !== 'HEAD')) return false
  // The length of a compressed response can reveal secrets in it (BREACH), such as a session's token.
  if (reply.hasHeader('set-cookie')) return false
  return !String(reply.getHeader('cache-control') ?? '').includes('no-store')
}

/** Returns the ETag of an encoded representation. Different representations must have different ETags. */
export const encodedEtag = (etag: string, encoding: Encoding): string =>
  etag.replace(/"$/, `-${encoding}"`)

/**
 * Compresses a body in one of libuv's threads. These levels compress a page to a tenth of its size within a
 * millisecond. The highest levels would save another tenth, but take fifty times as long.
 */
export function compress(body: Buffer, encoding: Encoding): Promise<Buffer> {
  return encoding === 'br' ? compressBrotli(body) : promisify(gzip)(body, { level: 6 })
}

const compressBrotli = (body: Buffer): Promise<Buffer> =>
  promisify(brotliCompress)(body, {
    params: {
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_QUALITY]: 5,
      [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
    },
  })
