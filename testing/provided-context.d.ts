import 'vitest'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The URL of a PostgreSQL server for test databases; undefined if PostgreSQL is not installed. */
    postgresUrl: string | undefined
    /** The paths of installed BitTorrent clients; empty unless slow tests run. */
    torrentClients: Partial<
      Record<'aria2' | 'Transmission' | 'libtorrent' | 'qBittorrent', string | undefined>
    >
    /** An address of this machine other than loopback; undefined if it has none. */
    ownAddress: string | undefined
    /** The path of Chromium, for tests of pages; undefined if it is not installed. */
    chromium: string | undefined
    /** Whether `neighbours.ts` works on this machine. */
    hasNetworkNamespaces: boolean
  }
}
