import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeDirectorySync } from './remove-directory.ts'

export type PostgresServer = {
  url: string
  /** The folder with the server's data and socket. */
  directory: string
  /**
   * Restarts the server as `pg_ctl restart` does in this mode. `immediate` simulates a crash, after which the server
   * recovers when it starts.
   */
  restart(mode: 'fast' | 'immediate'): Promise<void>
  stop(): Promise<void>
  /** Stops the server and removes its folder synchronously, for `exit` handlers. */
  abandon(): void
}

/**
 * Starts a PostgreSQL server whose data and socket are in a temporary folder. Returns undefined if PostgreSQL is not
 * installed. Commits are synced to disk only if `isDurable` is set, which is meant for measurements. Without autovacuum,
 * hundreds of small databases do not keep the server busy.
 */
export async function startPostgres({
  isDurable = false,
  hasAutovacuum = true,
} = {}): Promise<PostgresServer | undefined> {
  const bin = findPostgresBinaries()
  if (!bin) return undefined
  const directory = mkdtempSync(join(tmpdir(), 'shoal-postgres-'))
  const user = userFor(directory)
  const data = join(directory, 'data')
  execFileSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'shoal', '-A', 'trust', '-N', '-E', 'UTF8'],
    {
      ...user,
      cwd: directory,
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
  const settings = {
    listen_addresses: '',
    unix_socket_directories: directory,
    fsync: isDurable ? 'on' : 'off',
    max_connections: '200',
    autovacuum: hasAutovacuum ? 'on' : 'off',
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const start = async () => {
    const started = spawn(join(bin, 'postgres'), ['-D', data, ...options], {
      ...user,
      cwd: directory,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    await isReady(started)
    return started
  }
  let server = await start()
  const end = async (mode: 'fast' | 'immediate') => {
    const exited = once(server, 'exit')
    server.kill(mode === 'fast' ? 'SIGINT' : 'SIGQUIT')
    await exited
  }
  const restart = async (mode: 'fast' | 'immediate') => {
    await end(mode)
    server = await start()
  }
  return {
    url: `postgres://shoal@${encodeURIComponent(directory)}/postgres`,
    directory,
    restart,
    async stop() {
      await end('fast')
      rmSync(directory, { recursive: true, force: true })
    },
    abandon() {
      server.kill('SIGQUIT')
      const nothing = new Int32Array(new SharedArrayBuffer(4))
      for (let waits = 0; waits < 200 && existsSync(join(data, 'postmaster.pid')); waits += 1) {
        Atomics.wait(nothing, 0, 0, 10) // in ms; the server may write to the folder until it has deleted this file
      }
      removeDirectorySync(directory)
    },
  }
}

/** Returns the folder in which Debian stores the programs of the newest installed server. */
export function findPostgresBinaries(): string | undefined {
  const root = '/usr/lib/postgresql'
  if (!existsSync(root)) return undefined
  const versions = readdirSync(root).sort((a, b) => Number(b) - Number(a))
  return versions
    .map((version) => join(root, version, 'bin'))
    .find((bin) => existsSync(join(bin, 'initdb')))
}

/**
 * Returns the user and group for the server's process. PostgreSQL refuses to run as root, so if this process is root,
 * the server runs as the user `postgres` from Debian's package. That user becomes the owner of `directory`.
 */
export function userFor(directory: string): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  const user = { uid: id('-u'), gid: id('-g') }
  chownSync(directory, user.uid, user.gid)
  return user
}

async function isReady(server: ChildProcess) {
  let said = ''
  for await (const text of server.stderr ?? []) {
    said += text
    if (said.includes('ready to accept connections')) {
      server.stderr?.resume()
      return
    }
  }
  throw new Error(`PostgreSQL did not start: ${said}`)
}
