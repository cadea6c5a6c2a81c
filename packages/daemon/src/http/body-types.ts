import type { FastifyInstance } from 'fastify'
import { Fault } from '../errors.ts'

/** A body must be JSON; one without a type is taken to be JSON. Another type is refused. */
export function takeJsonAlone(app: FastifyInstance) {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('text/plain')
  app.addContentTypeParser('*', { parseAs: 'string' }, (request, body, done) => {
    const type = request.headers['content-type']
    if (request.is404) return done(null) // nothing else is needed
    if (!type) return parse(request, String(body), done)
    done(new Fault(415, `the body must be application/json, not ${type}`))
  })
}

/** `curl -d` declares a form. As with Ollama, the body is parsed as JSON anyway. */
export function takeAnyTypeForJson(app: FastifyInstance) {
  app.removeContentTypeParser('*')
  app.addContentTypeParser('*', { parseAs: 'string' }, app.getDefaultJsonParser('error', 'error'))
}
