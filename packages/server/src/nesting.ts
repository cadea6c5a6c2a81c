import type { FastifyInstance } from 'fastify'

/** Deeper than any schema or conversation; what walks through a body step by step does not survive thousands. */
const deepest = 200

/**
 * Refuses bodies whose objects and lists stand too deep in each other. `refusal` makes the error to throw. What else
 * looks into bodies before they are validated has to be added after this.
 */
export function refuseDeepBodies(app: FastifyInstance, refusal: (message: string) => Error) {
  app.addHook('preValidation', ({ body }, _reply, done) => {
    if (isDeeperThan(body, deepest)) {
      return done(refusal(`the body is nested more than ${deepest} levels deep`))
    }
    done()
  })
}

function isDeeperThan(value: unknown, most: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > most) return true
    level = level.flatMap((one) =>
      typeof one === 'object' && one !== null ? Object.values(one) : [],
    )
  }
  return false
}
