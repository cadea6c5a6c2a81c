import 'vitest'

declare module 'vitest' {
  export interface ProvidedContext {
    /** A PostgreSQL server to make databases on; undefined where none is installed. */
    postgresUrl: string | undefined
    /** BitTorrent clients: those that are installed, where slow tests run. */
    torrentClients: Partial<
      Record<'aria2' | 'Transmission' | 'libtorrent' | 'qBittorrent', string | undefined>
    >
    /** An address of this machine beside loopback, if it has one. */
    ownAddress: string | undefined
    /** Where Chromium is, for tests of pages. */
    chromium: string | undefined
    /** Whether there may be machines on this one: `neighbours.ts`. */
    hasNetworkNamespaces: boolean
  }
}
