import type { FastifyInstance } from 'fastify'

/**
 * The maximum nesting depth. No real schema or conversation is nested this deeply, and recursive code overflows the
 * stack at thousands of levels.
 */
const deepest = 200

/**
 * Rejects bodies with objects and lists that are nested too deeply. `refusal` creates the error to throw. Other hooks
 * that read bodies before validation must be added after this one.
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
