import { connect } from 'node:net'
import type { PostgresPoolClient, PostgresQueryResult } from 'kysely'
import pg from 'pg'
import { unavailable } from '../errors.ts'

/** The client times out this much later than the server, so that the server's own error comes first if there is one. */
const clientMarginMs = 2_000
const cancelTimeoutMs = 5_000
/** Code and length in bytes of a cancel request (PostgreSQL documentation, “Message Formats”). */
const cancelRequest = { code: 80_877_102, length: 16 }

/**
 * A client of the pool as Kysely uses it, from checkout to release. With a timeout, a statement that the server has not
 * answered in time is cancelled there and fails here, whether the server is busy or the connection is dead. A failed
 * connection is closed and never returned to the pool.
 */
export function postgresClient(
  client: pg.PoolClient,
  timeoutMs: number | undefined,
): PostgresPoolClient {
  let isBroken = false
  let isReleased = false

  function release(isToBeClosed = false) {
    if (isReleased) return
    isReleased = true
    client.release(isToBeClosed || isBroken)
  }

  function send(sql: string, parameters: ReadonlyArray<unknown>) {
    return new Promise<pg.QueryResult>((resolve, reject) => {
      const timer = timeoutMs && setTimeout(giveUp, timeoutMs + clientMarginMs, timeoutMs, reject)
      client.query(sql, parameters as unknown[]).then(
        (result) => {
          clearTimeout(timer)
          resolve(result)
        },
        (error) => {
          clearTimeout(timer)
          isBroken ||= isConnectionGone(error)
          reject(error)
        },
      )
    })
  }

  /** Closes the connection, since a late cancellation must not hit the next statement. */
  function giveUp(afterMs: number, reject: (error: Error) => void) {
    const problem = `the database did not respond within ${afterMs / 1000} s`
    reject(unavailable(problem, { retryAfterSeconds: 5 }))
    cancelStatement(client)
    isBroken = true
    release()
  }

  /**
   * Never fails: the caller has to get the error that made the transaction fail. The server rolls back by itself when
   * the connection is closed.
   */
  async function rollBack(): Promise<PostgresQueryResult<never>> {
    if (!isBroken) {
      await send('rollback', []).catch(() => {
        isBroken = true
      })
    }
    return { command: 'ROLLBACK', rowCount: 0, rows: [] }
  }

  function query(sql: string, parameters: ReadonlyArray<unknown>) {
    return sql === 'rollback' ? rollBack() : send(withTimeout(sql, timeoutMs), parameters)
  }

  return { query: query as unknown as PostgresPoolClient['query'], release }
}

/**
 * Within a transaction the server enforces the timeout too; sent together with `begin`, that costs no round trip. The
 * second limit frees the locks of a node that lost its connection in the middle of a transaction.
 */
function withTimeout(sql: string, timeoutMs: number | undefined): string {
  if (timeoutMs === undefined || !/^(begin|start transaction)/.test(sql)) return sql
  return `${sql}; set local statement_timeout = ${timeoutMs}; set local idle_in_transaction_session_timeout = ${timeoutMs}`
}

/**
 * True after every error that is not the server's response to a statement, and after those with which it ends a
 * session.
 */
function isConnectionGone(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return true
  return /^(08|57P|25P03|25P04)/.test(error.code ?? '')
}

/** What `pg` stores of a connection for a cancel request, and does not declare. */
type BackendKey = { processID?: number | null; secretKey?: number | null }

/** Over a separate connection, as the protocol requires; poolers forward it. Whether it arrives is unknown. */
function cancelStatement({ host, port, processID, secretKey }: pg.Client & BackendKey) {
  if (!processID || !secretKey) return
  const message = Buffer.alloc(cancelRequest.length)
  message.writeInt32BE(cancelRequest.length, 0)
  message.writeInt32BE(cancelRequest.code, 4)
  message.writeInt32BE(processID, 8)
  message.writeInt32BE(secretKey, 12)
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
  socket.setTimeout(cancelTimeoutMs, () => socket.destroy())
  socket.on('error', () => socket.destroy()) // the server is down, so there is nothing to cancel
  socket.end(message)
  socket.resume()
}
