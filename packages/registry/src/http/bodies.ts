import { Readable } from 'node:stream'
import { errorCodes, type FastifyInstance, type FastifyRequest } from 'fastify'
import { untilStalled } from '../store/until-stalled.ts'

/**
 * Decides which bodies are read: JSON, for routes that take a body. Other routes ignore the body, since clients send an
 * empty one with all kinds of types. A sender that sends nothing for `senderMs` gets 408.
 */
export function useBodies(app: FastifyInstance, senderMs: number) {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) => {
    if (takesBody(request)) parseJson(request, String(text), done)
    else done(null)
  })
  app.addHook('preParsing', (request, _reply, payload, done) =>
    done(null, takesBody(request) ? untilSenderStalls(payload as Readable, senderMs) : payload),
  )
  app.addContentTypeParser('*', (request, payload, done) => {
    if (takesBody(request)) {
      const type = request.headers['content-type']
      return done(new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE(type ?? 'none'))
    }
    payload.resume()
    done(null)
  })
}

/** The body as it arrives; it fails once nothing has arrived for too long. */
function untilSenderStalls(body: Readable, senderMs: number): Readable {
  const bytes = body.iterator({ destroyOnReturn: false })
  const watched = Readable.from(
    untilStalled<Buffer>(bytes, () => senderMs),
    { objectMode: false },
  )
  watched.on('error', () => undefined) // the parser also listens, until the body is refused
  return watched
}

function takesBody({ route }: FastifyRequest): boolean {
  return route.schema?.body !== undefined
}
