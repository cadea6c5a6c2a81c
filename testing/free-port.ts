import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Linux takes the ports for connections and for listeners on port 0 from 32768 to 60999
 * (`net.ipv4.ip_local_port_range`), macOS and Windows from above these.
 */
const range = { first: 16_384, end: 32_768 }

/**
 * Returns a port that is currently free, for programs that cannot use port 0. The operating system never gives it to
 * others. A port that it had given out and taken back might belong to another test before the program listens on it.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = range.first + Math.floor(Math.random() * (range.end - range.first))
    const server = createServer().listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') continue
      throw error
    }
    server.close()
    await once(server, 'close')
    return port
  }
}
