import { once } from 'node:events'
import { connect } from 'node:net'
import { addAbortSignal } from 'node:stream'
import type { PostgresPoolClient, PostgresQueryResult } from 'kysely'
import pg from 'pg'
import { unavailable } from '../errors.ts'
import type { ServerWatch } from './watch-server.ts'

/** The client's timeout is this much longer than the server's, so that an error from the server arrives first. */
const clientMarginMs = 2_000
const cancelTimeoutMs = 5_000
/** Code and length in bytes of a cancel request (PostgreSQL documentation, “Message Formats”). */
const cancelRequest = { code: 80_877_102, length: 16 }
/** Asks whether the server supports TLS. The server responds with one byte, before it checks anything else. */
const tlsRequest = { code: 80_877_103, length: 8 }

type ClientOptions = {
  timeoutMs: number | undefined
  onWrite: () => void
  /** Called when a statement is sent. Returns a function to call when it has ended. */
  follow: ServerWatch['follow']
}

/**
 * Adapts a client that was checked out of the pool to the interface that Kysely expects. Calls `onWrite` after each
 * statement or transaction that may have changed something. If `timeoutMs` is set and a statement takes longer, the
 * statement is canceled on the server and its promise rejects, even if the connection is dead. A failed connection is
 * closed and never returned to the pool.
 */
export function postgresClient(
  client: pg.PoolClient,
  { timeoutMs, onWrite, follow }: ClientOptions,
): PostgresPoolClient {
  let isBroken = false
  let isInTransaction = false
  let isReleased = false

  function release(isToBeClosed = false) {
    if (isReleased) return
    isReleased = true
    client.release(isToBeClosed || isBroken)
  }

  function send(sql: string, parameters: ReadonlyArray<unknown>) {
    const end = follow()
    return new Promise<pg.QueryResult>((resolve, reject) => {
      const timer = timeoutMs && setTimeout(giveUp, timeoutMs + clientMarginMs, timeoutMs, reject)
      client.query(sql, parameters as unknown[]).then(
        (result) => {
          end()
          clearTimeout(timer)
          resolve(result)
        },
        (error) => {
          end()
          clearTimeout(timer)
          isBroken ||= isConnectionGone(error)
          reject(error)
        },
      )
    })
  }

  /**
   * Fails the statement and closes its connection, because a cancellation that arrives late must not stop the next
   * statement.
   */
  function giveUp(afterMs: number, reject: (error: Error) => void) {
    const problem = `the database did not respond within ${afterMs / 1000} s`
    reject(unavailable(problem, { retryAfterSeconds: 5 }))
    cancelStatement(client)
    isBroken = true
    release()
  }

  /**
   * Rolls back the transaction. Never rejects, because the caller must receive the error that made the transaction
   * fail. If the rollback itself fails, the connection is closed, which makes the server roll back.
   */
  async function rollBack(): Promise<PostgresQueryResult<never>> {
    if (!isBroken) {
      await send('rollback', []).catch(() => {
        isBroken = true
      })
    }
    return { command: 'ROLLBACK', rowCount: 0, rows: [] }
  }

  async function query(sql: string, parameters: ReadonlyArray<unknown>) {
    if (isBegin(sql)) isInTransaction = true
    if (sql === 'commit' || sql === 'rollback') isInTransaction = false
    if (sql === 'rollback') return rollBack()
    const result = await send(withTimeout(sql, timeoutMs), parameters)
    if (!isInTransaction && result.command !== 'SELECT') onWrite()
    return result
  }

  return { query: query as unknown as PostgresPoolClient['query'], release }
}

/**
 * If `sql` begins a transaction, returns it with settings that make the server enforce the timeout too. The settings
 * are sent together with `begin`, so they need no additional round trip. The second setting releases the locks of a
 * node that loses its connection during a transaction.
 */
function withTimeout(sql: string, timeoutMs: number | undefined): string {
  if (timeoutMs === undefined || !isBegin(sql)) return sql
  return `${sql}; set local statement_timeout = ${timeoutMs}; set local idle_in_transaction_session_timeout = ${timeoutMs}`
}

const isBegin = (sql: string) => /^(begin|start transaction)/.test(sql)

/**
 * Whether the connection can no longer be used after this error: either the error did not come from the server, or the
 * server ended the session after sending the error.
 */
function isConnectionGone(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return true
  return /^(08|57P|25P03|25P04)/.test(error.code ?? '')
}

/** Properties of `pg`'s client that a cancel request needs but that `pg`'s types do not declare. */
type BackendKey = { processID?: number | null; secretKey?: number | null }

/**
 * Sends a cancel request over a separate connection, as the protocol requires. Connection poolers forward the request;
 * the server does not confirm it.
 */
function cancelStatement({ host, port, processID, secretKey }: pg.Client & BackendKey) {
  if (!processID || !secretKey) return
  const message = Buffer.alloc(cancelRequest.length)
  message.writeInt32BE(cancelRequest.length, 0)
  message.writeInt32BE(cancelRequest.code, 4)
  message.writeInt32BE(processID, 8)
  message.writeInt32BE(secretKey, 12)
  const socket = connectTo({ host, port })
  socket.setTimeout(cancelTimeoutMs, () => socket.destroy())
  socket.on('error', () => socket.destroy()) // the server is down, so there is nothing to cancel
  socket.end(message)
  socket.resume()
}

/**
 * Resolves if the server responds to a question that needs no session, over a separate connection. Rejects if the
 * connection fails.
 */
export async function probeServer(
  server: Pick<pg.Client, 'host' | 'port'>,
  signal: AbortSignal,
): Promise<void> {
  const message = Buffer.alloc(tlsRequest.length)
  message.writeInt32BE(tlsRequest.length, 0)
  message.writeInt32BE(tlsRequest.code, 4)
  const socket = addAbortSignal(signal, connectTo(server))
  socket.write(message)
  await once(socket, 'data')
  socket.destroy()
}

const connectTo = ({ host, port }: Pick<pg.Client, 'host' | 'port'>) =>
  host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
