import type { FastifyInstance } from 'fastify'
import { Fault } from '../errors.ts'

/** Accepts only JSON bodies. A body without a content type is treated as JSON. Any other content type is rejected. */
export function takeJsonAlone(app: FastifyInstance) {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('text/plain')
  app.addContentTypeParser('*', { parseAs: 'string' }, (request, body, done) => {
    const type = request.headers['content-type']
    if (request.is404) return done(null) // the response is a 404, whatever the body contains
    if (!type) return parse(request, String(body), done)
    done(new Fault(415, `the body must be application/json, not ${type}`))
  })
}

/** Parses every body as JSON, as Ollama does, whatever its content type: `curl -d` declares the body to be a form. */
export function takeAnyTypeForJson(app: FastifyInstance) {
  app.removeContentTypeParser('*')
  app.addContentTypeParser('*', { parseAs: 'string' }, app.getDefaultJsonParser('error', 'error'))
}
