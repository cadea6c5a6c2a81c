import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { type Clock, systemClock } from '@shoal/core/async'

/**
 * Starts a TCP proxy for a Unix socket or a port. Connections through the proxy can be cut, stalled and, by the time of
 * `clock`, delayed.
 */
export async function breakableLine(to: string | { port: number }, clock: Clock = systemClock) {
  const open = new Set<Socket>()
  let isStalled = false
  let lagMs = 0

  const server = createServer((incoming) => {
    const outgoing = typeof to === 'string' ? connect(to) : connect(to)
    for (const socket of [incoming, outgoing]) {
      open.add(socket)
      socket.on('close', () => open.delete(socket))
      socket.on('error', () => socket.destroy()) // the other end of the connection was cut
    }
    incoming.pipe(outgoing).pipe(late()).pipe(incoming)
    incoming.on('close', () => outgoing.destroy())
    outgoing.on('close', () => incoming.destroy())
    if (isStalled) stop(incoming, outgoing)
  })
  /** Creates a stream that forwards bytes after the current delay. */
  function late() {
    const stream = new PassThrough({
      transform: (chunk, _, done) => {
        if (lagMs === 0) return done(null, chunk)
        clock.after(lagMs, () => stream.push(chunk))
        done()
      },
    })
    return stream
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  return {
    port,
    /** Breaks all open connections and refuses new ones. */
    async cut() {
      if (!server.listening) return
      server.close()
      for (const socket of open) socket.destroy()
      await once(server, 'close')
    },
    /** Keeps connections open and accepts new ones, but forwards no bytes. */
    stall() {
      isStalled = true
      stop(...open)
    },
    /** Delays all further bytes from the server by `ms`. */
    delay(ms: number) {
      lagMs = ms
    },
    /** Makes new connections work again. Stalled connections remain stalled. */
    async restore() {
      isStalled = false
      if (server.listening) return
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
    },
  }
}

function stop(...sockets: Socket[]) {
  for (const socket of sockets) socket.unpipe().pause()
}
