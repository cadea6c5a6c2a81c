type Options = {
  /** The ports for the registry's clients and for the nodes' connections to PostgreSQL. */
  web: number
  database: number
  /** The ports of the two PostgreSQL servers. */
  primary: number
  standby: number
  /** The path of HAProxy's command socket. */
  socket: string
}

/** The number of node slots in HAProxy's configuration. Nodes can be added to free slots without a reload. */
export const maxNodes = 16

export function balancerConfiguration({ web, database, primary, standby, socket }: Options) {
  return `global
  stats socket ${socket} mode 600 level admin

defaults
  timeout connect 2s
  timeout check 4s
  default-server inter 500ms fall 2 rise 1
  option redispatch 1

frontend web
  mode http
  bind 127.0.0.1:${web}
  timeout client 75s
  option forwardfor
  use_backend live-nodes if { nbsrv(nodes) eq 0 }
  default_backend nodes

${nodes('nodes', '/readyz')}
# If no node is ready, for example because the store is unreachable, running nodes still serve what they can.
${nodes('live-nodes', '/healthz')}
listen database
  mode tcp
  bind 127.0.0.1:${database}
  timeout client 1h
  timeout server 1h
  option tcp-check
${primaryCheck()
  .map((line) => `  ${line}`)
  .join('\n')}
  server primary 127.0.0.1:${primary} check on-marked-down shutdown-sessions
  server standby 127.0.0.1:${standby} check backup on-marked-down shutdown-sessions
`
}

const nodes = (name: string, path: string) => `backend ${name}
  mode http
  balance roundrobin
  timeout server 75s
  timeout tunnel 1h
  option httpchk GET ${path}
  http-check expect status 200
  server-template node 1-${maxNodes} 127.0.0.1:9 check disabled
`

/**
 * Returns a health check that only a PostgreSQL primary passes. Using PostgreSQL's frontend/backend protocol, version
 * 3.0, the check signs in without a password and asks whether the server is in recovery.
 */
function primaryCheck(): string[] {
  const startup = Buffer.from('\0\x03\0\0user\0shoal\0database\0postgres\0\0', 'latin1')
  const question = Buffer.from('select pg_is_in_recovery()\0')
  const isReady = message('Z', Buffer.from('I'))
  const no = message('D', Buffer.from('\0\x01\0\0\0\x01f', 'latin1')) // one column of one byte: f
  return [
    'tcp-check connect',
    `tcp-check send-binary ${withLength(startup).toString('hex')}`,
    `tcp-check expect binary ${isReady.toString('hex')}`,
    `tcp-check send-binary ${message('Q', question).toString('hex')}`,
    `tcp-check expect binary ${no.toString('hex')}`,
    `tcp-check send-binary ${message('X', Buffer.alloc(0)).toString('hex')}`,
  ]
}

const message = (type: string, body: Buffer) => Buffer.concat([Buffer.from(type), withLength(body)])

function withLength(body: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(body.length + 4)
  return Buffer.concat([length, body])
}
