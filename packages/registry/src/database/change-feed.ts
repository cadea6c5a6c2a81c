/**
 * Reports the writes of all nodes that share a PostgreSQL database, so that each node can cache responses. Triggers and
 * nodes send notifications on the channel `shoal_changes`, and each node listens on a separate connection. PostgreSQL
 * delivers notifications in the order of their commits, so a node that has received its own heartbeat has also received
 * everything that was committed before the heartbeat was sent. If a node has not received any of the heartbeats that it
 * sent within the last three seconds, it assumes that it is also missing other nodes' notifications.
 */
import { randomUUID } from 'node:crypto'
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, systemClock } from '@shoal/core/async'
import pg from 'pg'

export interface ChangeFeed {
  /**
   * Returns a value that changes with every write by any node, or undefined while writes by other nodes may go
   * unnoticed.
   */
  version(): string | undefined
  /** Like `version`, but does not change when downloads are counted. */
  versionWithoutCounts(): string | undefined
  /** Changes the version immediately, without waiting for the notification of this node's own write. */
  noteWrite(): void
  /**
   * Like `noteWrite`, but for download counts: `versionWithoutCounts` does not change. Notifies other nodes within 1 s.
   */
  noteCounts(): void
  /**
   * Resolves once every other node has processed the notifications of all earlier commits, or has stopped using its
   * cache. This takes three seconds at most.
   */
  untilNoticed(): Promise<void>
  /** Calls `listener` whenever the status of a file has changed, on any node. */
  onFileChange(listener: () => void): void
  close(): Promise<void>
}

/** A change feed for a process that caches nothing. */
export const noChangeFeed: ChangeFeed = {
  version: () => undefined,
  versionWithoutCounts: () => undefined,
  noteWrite: () => undefined,
  noteCounts: () => undefined,
  untilNoticed: async () => undefined,
  onFileChange: () => undefined,
  close: async () => undefined,
}

type Options = {
  connectionString: string
  onConnectionLost: (error: Error) => void
  clock?: Clock
}

const channel = 'shoal_changes'
const heartbeatIntervalMs = 1_000
/**
 * A node that has not received its own heartbeat for this long stops using its cache. Other nodes therefore wait at
 * most this long for its confirmation.
 */
const silenceMs = 3_000
/**
 * A node is forgotten if no heartbeat from it has arrived for this long: twice `silenceMs`, because heartbeats may be
 * delayed in transit.
 */
const forgottenAfterMs = 2 * silenceMs
const countsIntervalMs = 1_000
const reconnectDelayMs = 500
/** A connection that has been open for this long is replaced if it delivers no heartbeat for `silenceMs`. */
const deadAfterMs = 30_000
const connectTimeoutMs = 5_000
/** A connection that has not closed gracefully after this time is destroyed. */
const closeTimeoutMs = 500

const undelivered =
  'PostgreSQL notifications are not arriving, so the registry does not cache responses: if DATABASE_URL points to a pooler such as PgBouncer, set SHOAL_DATABASE_LISTEN_URL to the URL of the database itself'

/** Notifications. Triggers send the first two, and nodes the others. */
type Message =
  | ['change']
  | ['file']
  | ['counts', from: string]
  | ['alive', from: string, sentAt: string]
  | ['notice', from: string, id: string]
  | ['noticed', from: string, id: string]

export function openChangeFeed({
  connectionString,
  onConnectionLost,
  clock = systemClock,
}: Options): ChangeFeed {
  const nodeId = randomUUID()
  /**
   * For this node, the time at which it sent the latest of its heartbeats that have arrived. For any other node, the
   * time at which its latest heartbeat arrived. Times are in milliseconds by `clock`.
   */
  const heardAt = new Map<string, number>()
  /** For each `notice`, by its ID: the nodes that have not confirmed it yet. */
  const awaited = new Map<string, { nodes: Set<string>; resolve(): void }>()
  const fileListeners: (() => void)[] = []
  let client: pg.Client | undefined
  let socket: Socket | undefined
  let listeningSince = 0
  let isClosed = false
  /** Whether the last attempt to connect failed. Of consecutive failures, only the first is reported. */
  let hasFailed = false
  let epoch = 0
  let writes = 0
  let counts = 0
  let cancelCounts: (() => void) | undefined
  /** Whether this node was unable to notify other nodes of its counts, because it was not connected. */
  let hasUnsentCounts = false
  let onOwnHeartbeat: () => void = () => undefined

  const isHeard = (node: string, withinMs = silenceMs) =>
    clock.now() - (heardAt.get(node) ?? Number.NEGATIVE_INFINITY) < withinMs

  /** Resolves after this time. */
  const pass = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve))

  const heartbeatMessage = (): Message => ['alive', nodeId, String(clock.now())]

  /**
   * Settles when the latest notification has been sent. Each notification waits for the one before it, because a client
   * can execute only one statement at a time.
   */
  let sending: Promise<unknown> = Promise.resolve()

  function send(...message: Message) {
    const text = message.join(' ')
    sending = sending
      .then(() => client?.query('select pg_notify($1, $2)', [channel, text]))
      .catch(onConnectionLost)
  }

  function receive(payload = '') {
    const [kind, from = '', id = ''] = payload.split(' ') as Message
    if (kind === 'alive') return hearFrom(from, Number(id))
    if (kind === 'noticed') return confirm(from, id)
    if (kind === 'counts') {
      if (from !== nodeId) counts += 1
      return
    }
    writes += 1
    if (kind === 'file') for (const listener of fileListeners) listener()
    if (kind === 'notice' && from !== nodeId) send('noticed', nodeId, id)
  }

  function hearFrom(node: string, sentAt: number) {
    if (node === nodeId && !isHeard(nodeId)) epoch += 1 // writes may have gone unnoticed
    heardAt.set(node, node === nodeId ? sentAt : clock.now())
    if (node === nodeId) onOwnHeartbeat()
    for (const other of heardAt.keys()) if (!isHeard(other, forgottenAfterMs)) forget(other)
  }

  function forget(node: string) {
    heardAt.delete(node)
    counts += 1 // the node may have counted downloads without notifying this one
  }

  function sendCounts() {
    hasUnsentCounts = client === undefined
    send('counts', nodeId)
  }

  function confirm(node: string, id: string) {
    const waiting = awaited.get(id)
    waiting?.nodes.delete(node)
    if (waiting?.nodes.size === 0) waiting.resolve()
  }

  /**
   * Sends a heartbeat on another connection, and waits until the listening connection receives it. Behind a pooler in
   * transaction mode, a heartbeat from another connection does not arrive, whereas one sent by the listening connection
   * itself would. Rejects if the heartbeat does not arrive within `silenceMs`.
   */
  async function checkDelivery() {
    const arrived = new Promise<void>((resolve) => {
      onOwnHeartbeat = resolve
    })
    const other = new pg.Client({
      connectionString,
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: silenceMs,
    })
    other.on('error', () => undefined) // the call in progress rejects with the error
    try {
      await other.connect()
      await other.query('select pg_notify($1, $2)', [channel, heartbeatMessage().join(' ')])
      const isLate = pass(silenceMs).then(() => true)
      if (await Promise.race([arrived, isLate])) throw new Error(undelivered)
    } finally {
      await other.end()
    }
  }

  async function connect() {
    const opened = new pg.Client({
      connectionString,
      stream: () => {
        socket = new Socket()
        return socket
      },
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
    })
    const lost = Promise.withResolvers<void>()
    opened.on('error', (error) => hasFailed || onConnectionLost(error))
    opened.on('end', () => lost.resolve())
    opened.on('notification', ({ payload }) => receive(payload))
    try {
      await opened.connect()
      await opened.query(`listen ${channel}`)
      await Promise.race([checkDelivery(), lost.promise])
      client = opened
      hasFailed = false
      listeningSince = clock.now()
      if (hasUnsentCounts) sendCounts()
      await lost.promise
    } catch (error) {
      if (!hasFailed) onConnectionLost(error as Error)
      hasFailed = true
    } finally {
      client = undefined
      heardAt.clear()
      socket?.destroy()
    }
  }

  async function stayConnected() {
    while (!isClosed) {
      await connect()
      if (!isClosed) await sleep(reconnectDelayMs * (0.5 + Math.random()))
    }
  }

  let cancelHeartbeat = clock.after(heartbeatIntervalMs, beat)

  function beat() {
    cancelHeartbeat = clock.after(heartbeatIntervalMs, beat)
    const isDead = !isHeard(nodeId) && clock.now() - listeningSince > deadAfterMs
    if (client && isDead)
      socket?.destroy() // a new connection may work
    else send(...heartbeatMessage())
  }

  const connected = stayConnected()

  const versionOf = (...parts: number[]) =>
    isHeard(nodeId) ? [epoch, writes, ...parts].join('.') : undefined

  return {
    version: () => versionOf(counts),
    versionWithoutCounts: () => versionOf(),

    noteWrite() {
      writes += 1
    },

    noteCounts() {
      counts += 1
      cancelCounts ??= clock.after(countsIntervalMs, () => {
        cancelCounts = undefined
        sendCounts()
      })
    },

    async untilNoticed() {
      const isListening = client && clock.now() - listeningSince > silenceMs
      if (!isListening || !isHeard(nodeId)) return pass(silenceMs) // this node may not know all other nodes yet
      const nodes = new Set([...heardAt.keys()].filter((node) => node !== nodeId))
      if (nodes.size === 0) return
      const id = randomUUID()
      const { promise, resolve } = Promise.withResolvers<void>()
      awaited.set(id, { nodes, resolve })
      const cancelTimeout = clock.after(silenceMs, resolve)
      try {
        send('notice', nodeId, id)
        await promise
      } finally {
        cancelTimeout()
        awaited.delete(id)
      }
    },

    onFileChange: (listener) => void fileListeners.push(listener),

    async close() {
      isClosed = true
      cancelHeartbeat()
      cancelCounts?.()
      client?.end().catch(onConnectionLost)
      const cut = setTimeout(() => socket?.destroy(), closeTimeoutMs)
      await connected
      clearTimeout(cut)
    },
  }
}
