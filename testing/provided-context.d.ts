import 'vitest'
import type { S3Address } from './s3/start-s3.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The URL of a PostgreSQL server for test databases; undefined if PostgreSQL is not installed. */
    postgresUrl: string | undefined
    /** An S3 server for test buckets; undefined if it is not installed. */
    s3: S3Address | undefined
    /** The URL of a Redis server; undefined if Redis is not installed. Each test uses its own key prefix. */
    redisUrl: string | undefined
    /** The path of HAProxy; undefined if it is not installed. */
    haproxy: string | undefined
    /** The path of PgBouncer; undefined if it is not installed. */
    pgbouncer: string | undefined
    /** The paths of installed BitTorrent clients; empty unless slow tests run. */
    torrentClients: Partial<
      Record<'aria2' | 'Transmission' | 'libtorrent' | 'qBittorrent', string | undefined>
    >
    /** An address of this machine other than loopback; undefined if it has none. */
    ownAddress: string | undefined
    /** The path of Chromium, for tests of pages; undefined if it is not installed. */
    chromium: string | undefined
    /** Whether `neighbours.ts` works on this machine; false unless slow tests run. */
    hasNetworkNamespaces: boolean
  }
}
