import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { Fault } from '../errors.ts'

/** Deeper than any schema or conversation; what walks through a body step by step does not survive thousands. */
const deepest = 200

/** Refuses bodies whose objects and lists stand too deep in each other. */
export const nesting = fp(async (app: FastifyInstance) => {
  app.addHook('preValidation', async ({ body }) => {
    if (isDeeperThan(body, deepest)) {
      throw new Fault(400, `the body is nested more than ${deepest} levels deep`)
    }
  })
})

function isDeeperThan(value: unknown, most: number): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > most) return true
    level = level.flatMap((one) =>
      typeof one === 'object' && one !== null ? Object.values(one) : [],
    )
  }
  return false
}
