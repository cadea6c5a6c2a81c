import 'vitest'

declare module 'vitest' {
  export interface ProvidedContext {
    /** A PostgreSQL server for test databases; undefined if PostgreSQL is not installed. */
    postgresUrl: string | undefined
    /** The paths of installed BitTorrent clients, if slow tests run. */
    torrentClients: Partial<
      Record<'aria2' | 'Transmission' | 'libtorrent' | 'qBittorrent', string | undefined>
    >
    /** An address of this machine other than loopback, if it has one. */
    ownAddress: string | undefined
    /** The path of Chromium, for tests of pages. */
    chromium: string | undefined
    /** Whether `neighbours.ts` works on this machine. */
    hasNetworkNamespaces: boolean
  }
}
