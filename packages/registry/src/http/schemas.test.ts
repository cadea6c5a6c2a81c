import { endpoints, namedSchemas } from '@shoal/protocol'
import fastify, { type RouteOptions } from 'fastify'
import { expect, test } from 'vitest'
import { compileSchema } from './validation.ts'

test('the schemas of all endpoints are valid, although a registry compiles them when they are first used', async () => {
  const app = fastify()
  app.setValidatorCompiler<object>(compileSchema)
  for (const schema of namedSchemas) app.addSchema(schema)
  const all: Pick<RouteOptions, 'method' | 'url' | 'schema'>[] = Object.values(endpoints)
  for (const endpoint of all) app.route({ ...endpoint, handler: () => null })
  await app.ready() // compiles all schemas
  expect(app.hasRoute({ method: 'GET', url: '/v1/models' })).toBe(true)
})
