import { Socket } from 'node:net'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { unavailable } from '../errors.ts'
import { postgresClient } from './postgres-client.ts'
import type { Database } from './schema.ts'

export type PostgresOptions = {
  connectionString: string
  /** Maximum duration of one statement of `db`; undefined for no limit. */
  statementTimeoutMs?: number
  maxConnections?: number
  /** Called for each connection that breaks, in use or idle. The pool replaces it. */
  onConnectionLost: (error: Error) => void
}

const defaultMaxConnections = 10
/** For a new connection, and for a free one if all are in use. */
const connectTimeoutMs = 5_000
/**
 * Maximum number of callers that wait for a connection. Any more could hardly be served within `connectTimeoutMs`, so
 * they are refused immediately and can retry later.
 *
 */
const maxWaiting = 1_000
/**
 * An idle connection is probed after this time, and closed about ten seconds later without a response (TCP keepalive).
 */
const keepAliveAfterMs = 10_000
/** Connections that have not closed gracefully by then are cut. */
const closeTimeoutMs = 1_000

/** PostgreSQL behind one pool, with two handles: `db` limits the duration of each statement, `unboundedDb` does not. */
export function openPostgres(options: PostgresOptions) {
  const { connectionString, statementTimeoutMs, onConnectionLost } = options
  const { maxConnections = defaultMaxConnections } = options
  const sockets = new Set<Socket>()

  function openSocket(): Socket {
    const socket = new Socket()
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    return socket
  }

  const pool = new pg.Pool({
    connectionString,
    max: maxConnections,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveAfterMs,
    types: { getTypeParser: typeParser },
    stream: openSocket,
  })
  // The pool listens only to idle clients; an unhandled `error` event ends the process.
  pool.on('connect', (client) => client.on('error', onConnectionLost))
  pool.on('error', () => undefined) // already reported by the client

  const handle = (timeoutMs?: number) =>
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
            return postgresClient(await pool.connect(), timeoutMs)
          },
          end: async () => undefined, // both handles share the pool: `close` ends it
        },
      }),
    })
  const db = handle(statementTimeoutMs)
  const unboundedDb = handle()

  return {
    db,
    unboundedDb,
    /** Ends the pool. Takes at most about a second, whatever the server does. */
    async close() {
      await Promise.all([db.destroy(), unboundedDb.destroy()])
      const cut = setTimeout(() => {
        for (const socket of sockets) socket.destroy()
      }, closeTimeoutMs)
      await pool.end()
      await Promise.all(Array.from(sockets, closed))
      clearTimeout(cut)
    },
  }
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.closed) resolve()
    else socket.once('close', () => resolve())
  })
}

/** Parses 64-bit integers as numbers, because all values that we store are below 2^53. */
const typeParser: typeof pg.types.getTypeParser = (oid: number, format?: 'text' | 'binary') =>
  oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format as 'text')
