import 'vitest'
import type { Servers } from './services.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The servers that tests can ask for; see `servers.ts`. */
    servers: Servers
    /** The path of HAProxy; undefined if it is not installed. */
    haproxy: string | undefined
    /** The path of PgBouncer; undefined if it is not installed. */
    pgbouncer: string | undefined
    /** The path of Chromium, for tests of pages; undefined if it is not installed. */
    chromium: string | undefined
    /** An address of this machine other than loopback; undefined if it has none. */
    ownAddress: string | undefined
    /** The paths of installed BitTorrent clients; empty unless slow tests run. */
    torrentClients: Partial<
      Record<'aria2' | 'Transmission' | 'libtorrent' | 'qBittorrent', string | undefined>
    >
    /** Whether `neighbours.ts` works on this machine; false unless slow tests run. */
    hasNetworkNamespaces: boolean
  }
}
