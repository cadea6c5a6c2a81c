import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { expect, test } from 'vitest'
import { type RegistryConfig, readRegistryConfig } from '../config.ts'
import { startTestRegistry } from '../testing/test-registry.ts'

/** A non-loopback address of this machine. Connections from this machine to it also have it as their source address. */
const ownAddress = Object.values(networkInterfaces())
  .flat()
  .find((found) => found?.family === 'IPv4' && !found.internal)?.address

const limit = 3

/**
 * Opens connections one after another and requests `/healthz` on each. Returns the first line of each response, or an
 * empty string if the connection was closed.
 */
async function ask(port: number, host: string, count: number) {
  const sockets: Socket[] = []
  const answers: string[] = []
  for (let at = 0; at < count; at += 1) {
    const socket = connect(port, host)
    sockets.push(socket)
    socket.on('error', () => undefined) // a connection that was reset also counts as refused
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
    const [answer] = await Promise.race([once(socket, 'data'), once(socket, 'close')])
    answers.push(Buffer.isBuffer(answer) ? (answer.toString().split('\r\n')[0] ?? '') : '')
  }
  return { sockets, answers }
}

async function withRegistry(
  settings: Partial<RegistryConfig>,
  use: (port: number, metric: () => Promise<string | undefined>) => Promise<void>,
) {
  const registry = await startTestRegistry({
    host: '0.0.0.0',
    maxConnectionsPerAddress: limit,
    ...settings,
  })
  try {
    await use(registry.port, async () => {
      const { text } = await registry.get('/metrics')
      return /^shoal_http_refused_connections_total (\d+)$/m.exec(text)?.[1]
    })
  } finally {
    await registry.close()
  }
}

test.skipIf(!ownAddress)('the number of concurrent connections per address is limited', () =>
  withRegistry({}, async (port, refused) => {
    const { sockets, answers } = await ask(port, ownAddress ?? '', limit + 2)
    expect(answers).toEqual([...Array(limit).fill('HTTP/1.1 200 OK'), '', ''])
    expect(await refused()).toBe('2')
    const [first] = sockets
    first?.end()
    if (first) await once(first, 'close')
    await expect
      .poll(async () => {
        const { sockets: more, answers } = await ask(port, ownAddress ?? '', 1)
        for (const socket of more) socket.destroy()
        return answers
      })
      .toEqual(['HTTP/1.1 200 OK'])
    for (const socket of sockets) socket.destroy()
  }),
)

test('connections from this machine are not limited', () =>
  withRegistry({}, async (port) => {
    const { sockets, answers } = await ask(port, '127.0.0.1', 4 * limit)
    expect(answers).toEqual(Array(4 * limit).fill('HTTP/1.1 200 OK'))
    for (const socket of sockets) socket.destroy()
  }))

test.skipIf(!ownAddress)('connections from a trusted proxy are not limited', () =>
  withRegistry({ trustProxy: 1 }, async (port) => {
    const { sockets, answers } = await ask(port, ownAddress ?? '', 4 * limit)
    expect(answers).toEqual(Array(4 * limit).fill('HTTP/1.1 200 OK'))
    for (const socket of sockets) socket.destroy()
  }),
)

test.each(['0', '-1', 'many', '1e3'])(
  'a limit of "%s" is rejected at startup with a readable error',
  (text) => {
    const env = { SHOAL_MAX_CONNECTIONS_PER_ADDRESS: text }
    expect(() => readRegistryConfig(env)).toThrow(
      `SHOAL_MAX_CONNECTIONS_PER_ADDRESS must be a whole number of at least 1, not "${text}"`,
    )
  },
)
