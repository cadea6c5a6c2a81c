/** A route that only sends prepared responses with their headers. No server that uses Fastify can be faster. */
import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import { answer, readInput, waitForStop } from './child.ts'

export type BareAnswer = {
  path: string
  status: number
  headers: Record<string, string>
  body: string
}

const { answers } = await readInput<{ answers: BareAnswer[] }>()
const answersByPath = new Map(
  answers.map((one) => [one.path, { ...one, body: Buffer.from(one.body) }]),
)
const app = Fastify()
app.get('/*', (request, reply) => {
  const found = answersByPath.get(request.url)
  if (!found) return reply.code(404).send()
  return reply.code(found.status).headers(found.headers).send(found.body)
})
await app.listen({ host: '127.0.0.1', port: 0 })
await answer({ url: `http://localhost:${(app.server.address() as AddressInfo).port}` })
await waitForStop()
await app.close()
if (process.connected) process.disconnect()
