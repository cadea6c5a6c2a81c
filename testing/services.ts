import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { canMakeNeighbours } from './neighbours.ts'
import { findPostgresBinaries, startPostgres } from './postgres.ts'
import { findChromium, findProgram, optionalPrograms } from './programs.ts'
import { startRedis } from './redis.ts'
import { isCephInstalled } from './s3/start-ceph.ts'
import { startS3 } from './s3/start-s3.ts'
import { runsSlowTests } from './slow.ts'
import { canMount, memoryFolder } from './small-disk.ts'
import { findOwnAddress, findTorrentClients } from './torrent-clients/find-torrent-clients.ts'

type Name = 'postgres' | 's3' | 'redis'
type Started = { address: unknown; stop(): Promise<void> }

/** Where tests ask for servers, and the servers that are installed. */
export type Servers = { socket: string; installed: Name[] }

const kinds: Record<Name, { title: string; isInstalled: boolean; start(): Promise<Started> }> = {
  postgres: {
    title: 'PostgreSQL',
    isInstalled: findPostgresBinaries() !== undefined,
    async start() {
      const server = await startPostgres({ hasAutovacuum: false })
      return { address: server?.url, stop: async () => server?.stop() }
    },
  },
  s3: {
    title: 'an S3 server (radosgw)',
    isInstalled: isCephInstalled(),
    async start() {
      const server = await startS3()
      return { address: server?.address, stop: async () => server?.stop() }
    },
  },
  redis: {
    title: 'Redis',
    isInstalled: findProgram('redis-server') !== undefined,
    async start() {
      const server = await startRedis()
      return { address: server?.url, stop: async () => server?.stop() }
    },
  },
}

/**
 * Looks for everything that tests need beyond the tests' PATH, and says what is missing. With `SHOAL_TEST_EVERYTHING`,
 * the run then fails; otherwise, the tests that need it are skipped. Servers are started when a test asks for one.
 */
export default async function startServices(project: TestProject) {
  if (!runsSlowTests) {
    process.stderr.write(
      'Slow tests are skipped, such as those with faults, network namespaces, other BitTorrent clients or large models. Set SHOAL_TEST_SLOW=1 to run them.\n',
    )
  }
  const clients = runsSlowTests ? findTorrentClients() : {}
  const hasNamespaces = runsSlowTests && canMakeNeighbours()
  const ownAddress = findOwnAddress()
  project.provide('ownAddress', ownAddress)
  for (const name of ['haproxy', 'pgbouncer'] as const) project.provide(name, findProgram(name))
  project.provide('chromium', findChromium())
  project.provide('torrentClients', clients)
  project.provide('hasNetworkNamespaces', hasNamespaces)
  const names = Object.keys(kinds) as Name[]
  const available: [what: string, isAvailable: boolean][] = [
    ...Object.entries(clients).map(([name, program]): [string, boolean] => [
      name,
      Boolean(program),
    ]),
    ...names.map((name): [string, boolean] => [kinds[name].title, kinds[name].isInstalled]),
    ...optionalPrograms.map((name): [string, boolean] => [name, findProgram(name) !== undefined]),
    ['Chromium', findChromium() !== undefined],
    ['an address other than loopback', ownAddress !== undefined],
    ['network namespaces', hasNamespaces || !runsSlowTests],
    ['permission to mount a small disk', canMount],
    ['permission to write to /dev/shm', memoryFolder !== undefined],
  ]
  const missing = available.filter(([, isAvailable]) => !isAvailable).map(([what]) => what)
  if (missing.length > 0) {
    const text = `not available: ${missing.join(', ')}`
    if (process.env.SHOAL_TEST_EVERYTHING) {
      throw new Error(`${text}. SHOAL_TEST_EVERYTHING does not allow skipped tests`)
    }
    process.stderr.write(`${text}. Tests that need any of these are skipped.\n`)
  }
  const { socket, close } = await serveServers()
  project.provide('servers', { socket, installed: names.filter((name) => kinds[name].isInstalled) })
  return close
}

/** Listens on a Unix socket, at which tests ask for a server by its name and get its address as JSON. */
async function serveServers() {
  const directory = mkdtempSync(join(tmpdir(), 'shoal-servers-'))
  const socket = join(directory, 'socket')
  const starting = new Map<string, Promise<Started>>()
  const start = (name: string): Promise<Started> => {
    const kind = kinds[name as Name]
    if (!kind?.isInstalled) throw new Error(`not installed: ${kind?.title ?? name}`)
    const started = starting.get(name) ?? kind.start()
    starting.set(name, started)
    return started
  }
  const server = createServer(async ({ url = '' }, response) => {
    try {
      const { address } = await start(url.slice(1))
      response.end(JSON.stringify({ address }))
    } catch (error) {
      response.end(JSON.stringify({ error: String(error) }))
    }
  })
  server.listen(socket)
  await once(server, 'listening')
  return {
    socket,
    async close() {
      server.close()
      server.closeAllConnections()
      const started = await Promise.allSettled(starting.values())
      await Promise.all(
        started.map((each) => (each.status === 'fulfilled' ? each.value.stop() : undefined)),
      )
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
