import { errorCodes, type FastifyInstance, type FastifyRequest } from 'fastify'

/**
 * Which bodies are read: JSON, by the calls that take a body. Those that take none ignore whatever comes, since clients send
 * an empty one with all kinds of types.
 */
export function useBodies(app: FastifyInstance) {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) => {
    if (takesBody(request)) parseJson(request, String(text), done)
    else done(null)
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

function takesBody({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.schema?.body !== undefined
}
