import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { isErrno } from '@shoal/files'
import type { Log } from '@shoal/log'
import { ConfigError } from '../errors.ts'

/** Maximum number of bytes that are buffered per connection before they are read. */
const bytesAhead = 16 * 1024

type Options = {
  host: string
  /** The port; 0 lets the operating system choose one. */
  port: number
  accept: (socket: Socket) => void
  log: Pick<Log, 'warn'>
}

/**
 * Listens on all addresses of a host, on the same port. If at least one address works, failures on the others are only
 * logged, because `localhost` has two addresses, one of which may not exist on this machine.
 * @throws the system's error if the host is not an address of this machine; `ConfigError` if the port cannot be used
 */
export async function listenOn({ host, port, accept, log }: Options) {
  const addresses = new Set((await lookup(host, { all: true })).map(({ address }) => address))
  const servers: Server[] = []
  const failures: Error[] = []
  for (const address of addresses) {
    const server = createServer({ noDelay: true, highWaterMark: bytesAhead }, accept)
    server.listen(port || getPort(servers), address)
    await once(server, 'listening').then(
      () => servers.push(server),
      (error) => failures.push(error),
    )
  }
  if (servers.length === 0) {
    const wrongHost = failures.find((error) => isErrno(error, 'EADDRNOTAVAIL'))
    if (wrongHost) throw wrongHost // the registry cannot listen at this address either, whatever the port is
    const why = failures.map(({ message }) => message).join(', ')
    throw new ConfigError(
      `SHOAL_PEER_PORT: the metadata peer cannot listen (${why}): set this variable to a free port or to "off"`,
    )
  }
  for (const error of failures) {
    log.warn({ err: error }, 'the metadata peer listens on only some addresses')
  }
  for (const server of servers) {
    server.on('error', (error) =>
      log.warn({ err: error }, 'the metadata peer could not accept a connection'),
    )
  }
  return {
    port: getPort(servers),
    close: () => Promise.all(servers.map((server) => once(server.close(), 'close'))),
  }
}

/** Returns the port of the first server, or 0 if there is no server. */
function getPort([server]: Server[]): number {
  return (server?.address() as AddressInfo | undefined)?.port ?? 0
}
