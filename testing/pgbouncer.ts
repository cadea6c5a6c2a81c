import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { userFor } from './postgres.ts'
import { needProgram } from './programs.ts'
import { accepts, untilStarted } from './until-started.ts'

export type PgBouncer = {
  /** The database's URL through PgBouncer. */
  url: string
  stop(): Promise<void>
}

/** Starts PgBouncer in transaction mode for the database at this URL, which must use a Unix socket. */
export async function startPgBouncer(databaseUrl: string): Promise<PgBouncer> {
  const directory = mkdtempSync(join(tmpdir(), 'shoal-pgbouncer-'))
  const path = join(directory, 'pgbouncer.ini')
  const port = await freePort()
  const { hostname, username, pathname } = new URL(databaseUrl)
  writeFileSync(
    path,
    `[databases]
* = host=${decodeURIComponent(hostname)} user=${username}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
`,
  )
  const child = spawn(needProgram('pgbouncer'), [path], {
    ...userFor(directory),
    cwd: directory,
    stdio: 'ignore',
  })
  const exited = once(child, 'exit')
  const isRunning = () => child.exitCode === null && child.signalCode === null
  const stop = async () => {
    child.kill('SIGKILL')
    await exited
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    await untilStarted('PgBouncer', () => accepts(port), { isRunning })
  } catch (error) {
    await stop()
    throw error
  }
  return { url: `postgres://${username}@127.0.0.1:${port}${pathname}`, stop }
}
