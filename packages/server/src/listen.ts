import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import type { FastifyInstance } from 'fastify'

/**
 * Listens on an address. If `host` is `localhost`, also listens on the other loopback address if the machine has it:
 * Fastify does this only for servers that it has created itself. Returns the port.
 */
export async function listen(
  app: FastifyInstance,
  { host, port }: { host: string; port: number },
): Promise<number> {
  await app.listen({ host, port })
  const first = app.server.address() as AddressInfo
  if (host !== 'localhost') return first.port
  for (const { address } of await lookup(host, { all: true })) {
    if (address === first.address) continue
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      app.server.emit('connection', socket),
    )
    server.listen(first.port, address)
    const isListening = await once(server, 'listening').then(
      () => true,
      () => false, // for example because IPv6 is disabled
    )
    if (isListening) app.server.once('close', () => server.close())
  }
  return first.port
}
