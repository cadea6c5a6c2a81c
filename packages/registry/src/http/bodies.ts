import { Readable } from 'node:stream'
import { errorCodes, type FastifyInstance, type FastifyRequest } from 'fastify'
import { untilStalled } from '../store/until-stalled.ts'

/**
 * Configures how request bodies are read. Routes that take a body accept only JSON. Other routes ignore the body,
 * because clients send empty bodies with all kinds of content types. A client that sends nothing for `senderMs` before
 * its body is complete gets 408, and one that compresses its body gets 415.
 */
export function useBodies(app: FastifyInstance, senderMs: number) {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) => {
    if (takesBody(request)) parseJson(request, String(text), done)
    else done(null)
  })
  app.addHook('preParsing', (request, reply, payload, done) => {
    if (!takesBody(request)) return done(null, payload)
    const encoding = request.headers['content-encoding'] ?? 'identity'
    if (encoding.toLowerCase() !== 'identity') {
      reply.header('accept-encoding', 'identity') // RFC 9110 §15.5.16
      const message = `the body must not be compressed (Content-Encoding: ${encoding})`
      return done(Object.assign(new Error(message), { statusCode: 415 }))
    }
    done(null, untilSenderStalls(payload as Readable, senderMs))
  })
  app.addContentTypeParser('*', (request, payload, done) => {
    if (takesBody(request)) {
      const type = request.headers['content-type']
      return done(new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE(type ?? 'none'))
    }
    payload.resume()
    done(null)
  })
}

/** Returns the body as a stream that fails if nothing arrives for `senderMs`. */
function untilSenderStalls(body: Readable, senderMs: number): Readable {
  const bytes = body.iterator({ destroyOnReturn: false })
  const watched = Readable.from(
    untilStalled<Buffer>(bytes, () => senderMs),
    { objectMode: false },
  )
  watched.on('error', () => undefined) // the parser also listens for errors, but only until the body is refused
  return watched
}

function takesBody({ route }: FastifyRequest): boolean {
  return route.schema?.body !== undefined
}
