import { Socket } from 'node:net'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { unavailable } from '../errors.ts'
import { postgresClient, probeServer } from './postgres-client.ts'
import type { Database } from './schema.ts'
import { watchServer } from './watch-server.ts'

export type PostgresOptions = {
  connectionString: string
  /** Called after each statement or transaction that may have changed something other than download counts. */
  onWrite?: () => void
  /** Called after each statement or transaction that may have counted downloads. */
  onCount?: () => void
  /** Maximum duration of each statement executed through `db`; undefined for no limit. */
  statementTimeoutMs?: number
  maxConnections?: number
  /** Called for each connection that breaks, whether it is in use or idle. The pool replaces the connection. */
  onConnectionLost: (error: Error) => void
}

const defaultMaxConnections = 10
/** Timeout for opening a connection, and for waiting until one is free if all are in use. */
const connectTimeoutMs = 4_500
/**
 * Maximum number of callers that wait for a connection. Any further callers would probably not be served within
 * `connectTimeoutMs`, so they are refused immediately and can retry later.
 */
const maxWaiting = 1_000
/**
 * A connection that has been idle for this long is probed, and closed about ten seconds later if there is no response
 * (TCP keepalive).
 */
const keepAliveAfterMs = 10_000
/** Connections that have not closed gracefully after this time are destroyed. */
const closeTimeoutMs = 1_000

/**
 * Opens a pool of PostgreSQL connections that several Kysely instances share. `db` limits the duration of each
 * statement; `unboundedDb` does not.
 */
export function openPostgres(options: PostgresOptions) {
  const { connectionString, statementTimeoutMs, onConnectionLost } = options
  const { maxConnections = defaultMaxConnections, onWrite = nothing, onCount = nothing } = options
  const sockets = new Set<Socket>()

  function openSocket(): Socket {
    const socket = new Socket()
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    return socket
  }

  const watch = watchServer({
    probe: (signal) => probeServer(new pg.Client({ connectionString }), signal),
    countBytes: () => sockets.values().reduce((sum, { bytesRead }) => sum + bytesRead, 0),
    onSilent() {
      const silent = unavailable('the database does not respond', { retryAfterSeconds: 5 })
      for (const socket of sockets) socket.destroy(silent)
    },
  })

  const pool = new pg.Pool({
    connectionString,
    max: maxConnections,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveAfterMs,
    types: { getTypeParser: typeParser },
    stream: openSocket,
  })
  // The pool handles the `error` events of idle clients only, and an unhandled `error` event would end the process.
  pool.on('connect', (client) => client.on('error', onConnectionLost))
  pool.on('error', () => undefined) // already reported by the client

  const handle = (timeoutMs: number | undefined, onWrite: () => void) =>
    new Kysely<Database>({
      dialect: new PostgresDialect({
        pool: {
          options: pool.options,
          async connect() {
            if (pool.waitingCount >= maxWaiting) {
              throw unavailable('too many requests are waiting for the database', {
                retryAfterSeconds: 5,
              })
            }
            return postgresClient(await pool.connect(), {
              timeoutMs,
              onWrite,
              follow: watch.follow,
            })
          },
          end: async () => undefined, // the pool is shared; `close` ends it
        },
      }),
    })
  const db = handle(statementTimeoutMs, onWrite)
  const unboundedDb = handle(undefined, onWrite)
  const countingDb = handle(statementTimeoutMs, onCount)

  return {
    db,
    unboundedDb,
    /** For statements that change only download counts. */
    countingDb,
    /** Ends the pool. Takes about a second at most, even if the server does not respond. */
    async close() {
      watch.close()
      await Promise.all([db, unboundedDb, countingDb].map((one) => one.destroy()))
      const cut = setTimeout(() => {
        for (const socket of sockets) socket.destroy()
      }, closeTimeoutMs)
      await pool.end()
      await Promise.all(Array.from(sockets, closed))
      clearTimeout(cut)
    },
  }
}

const nothing = () => undefined

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve()
    else socket.once('close', () => resolve())
  })
}

/** Parses 64-bit integers as numbers, because all stored values are below 2^53. */
const typeParser: typeof pg.types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format as 'text')
