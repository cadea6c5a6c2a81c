import type { FastifyInstance } from 'fastify'
import { Fault } from '../errors.ts'

/** A body is JSON, and one without a type is taken for it. Another type is refused by its name. */
export function takeJsonAlone(app: FastifyInstance) {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('text/plain')
  app.addContentTypeParser('*', { parseAs: 'string' }, (request, body, done) => {
    const type = request.headers['content-type']
    if (request.is404) return done(null) // which is what there is to say
    if (!type) return parse(request, String(body), done)
    done(new Fault(415, `a body is application/json here, not ${type}`))
  })
}

/** `curl -d` says that it sends a form. As with Ollama, the body is JSON whatever it is called. */
export function takeAnyTypeForJson(app: FastifyInstance) {
  app.removeContentTypeParser('*')
  app.addContentTypeParser('*', { parseAs: 'string' }, app.getDefaultJsonParser('error', 'error'))
}
