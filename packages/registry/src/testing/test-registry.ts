import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SignedIn } from '@shoal/protocol'
import pg from 'pg'
import { afterAll, afterEach, beforeEach, describe, inject, test } from 'vitest'
import { freePort } from '../../../../testing/free-port.ts'
import { hasPostgres, hasRedis, hasS3, postgresUrl, redisUrl } from '../../../../testing/servers.ts'
import { runsSlowTests } from '../../../../testing/slow.ts'
import { type Balancer, startBalancer } from '../../../../testing/start-balancer.ts'
import type { RegistryConfig } from '../config.ts'
import { type Connection, connect } from '../database/connect.ts'
import { type RunningRegistry, startRegistry } from '../main.ts'
import { makeProbedBucket } from './s3-bucket.ts'
import { testConfig } from './test-config.ts'

export type TestRegistry = Awaited<ReturnType<typeof startTestRegistry>>
export type Answer = { status: number; headers: Headers; body: never; text: string }

type Call = {
  token?: string | undefined
  body?: unknown
  headers?: Record<string, string> | undefined
  /** A body to be sent unchanged, instead of `body` as JSON. */
  bytes?: Uint8Array<ArrayBuffer> | string
}

type Start = (settings?: Partial<RegistryConfig>) => Promise<TestRegistry>

/** A registry with one node and either database, or three nodes that share PostgreSQL, an S3 store and Redis. */
type Setup = 'SQLite' | 'PostgreSQL' | 'three nodes'

export const everywhere: readonly Setup[] = ['SQLite', 'PostgreSQL', 'three nodes']

/**
 * Runs the tests `on` each of these setups. Choose
 *
 * - `SQLite` always;
 * - `PostgreSQL` if the tests are about SQL: conditions, order, locks, text or numbers in the database;
 * - `three nodes` if an answer can depend on a second node, because it comes from the database, the S3 store or Redis and
 *   another node may just have changed it.
 *
 * Tests on PostgreSQL are skipped if it is not installed. Tests on three nodes, which are behind a load balancer, are
 * skipped unless slow tests are enabled. Those that are declared with `oneNodeTest` never run on three nodes, because
 * they are about the disk store, the memory of one process, or the immediate effect of a change.
 */
export function describeApi(
  title: string,
  { on }: { on: readonly Setup[] },
  tests: (start: Start, oneNodeTest: (name: string, run: () => Promise<void>) => void) => void,
) {
  for (const setup of on) {
    describe.skipIf(!isInstalled(setup))(`${title} (${setup})`, () => {
      const closeLater = closeInTime()
      const nodes = setup === 'three nodes' ? 3 : 1
      tests(
        async (settings) => {
          const shared = await makeShared(setup)
          return closeLater(await startTestRegistry({ ...shared, ...settings }, nodes))
        },
        (name, run) => {
          if (nodes === 1) test(name, run)
        },
      )
    })
  }
}

/** Runs the tests with SQLite and with PostgreSQL. */
export function describeOnEachDatabase(title: string, tests: (start: Start) => void) {
  describeApi(title, { on: ['SQLite', 'PostgreSQL'] }, tests)
}

function isInstalled(setup: Setup): boolean {
  if (setup === 'SQLite') return true
  if (setup === 'PostgreSQL') return hasPostgres
  return runsSlowTests && hasPostgres && hasS3 && hasRedis && inject('haproxy') !== undefined
}

/** Returns the settings with which the nodes of a registry share an empty database, an empty store and Redis. */
async function makeShared(setup: Setup): Promise<Partial<RegistryConfig>> {
  if (setup === 'SQLite') return {}
  if (setup === 'PostgreSQL') return { databaseUrl: await makeDatabase() }
  const [databaseUrl, s3] = await Promise.all([makeDatabase(), makeProbedBucket()])
  return { databaseUrl, s3, redisUrl: await redisUrl() }
}

/**
 * Returns a function that schedules the closing of a registry. A registry that was started by a test is closed before
 * the next test. Other registries are closed after all tests. Dozens of idle registries in one process would slow down
 * the last tests.
 */
function closeInTime() {
  const ofAll: TestRegistry[] = []
  let ofTest: TestRegistry[] = []
  let isInTest = false
  const closeEach = (registries: TestRegistry[]) =>
    Promise.all(registries.map((registry) => registry.close()))
  beforeEach(async () => {
    const finished = ofTest
    ofTest = []
    isInTest = true
    await closeEach(finished)
  })
  afterEach(() => {
    isInTest = false
  })
  afterAll(() => closeEach([...ofAll, ...ofTest]))
  return (registry: TestRegistry) => {
    const started = isInTest ? ofTest : ofAll
    started.push(registry)
    return registry
  }
}

/**
 * Starts a real registry on a port chosen by the operating system, with its data in a temporary folder. Several nodes
 * run behind a load balancer.
 */
export async function startTestRegistry(settings: Partial<RegistryConfig> = {}, nodes = 1) {
  const directory = settings.dataDirectory ?? (await mkdtemp(join(tmpdir(), 'shoal-registry-')))
  const config: RegistryConfig = { ...testConfig(directory), ...settings }
  let running = await startNodes(config, nodes)
  let isRunning = true
  const connections: Connection[] = []
  const address = () => `http://127.0.0.1:${running.port}`

  async function call(method: string, path: string, options: Call = {}): Promise<Answer> {
    const { token, body, bytes } = options
    const headers: Record<string, string> = { ...options.headers }
    if (token !== undefined) headers.authorization = `Bearer ${token}`
    if (body !== undefined) headers['content-type'] ??= 'application/json'
    const response = await fetch(path.startsWith('http') ? path : address() + path, {
      method,
      headers,
      redirect: 'manual',
      ...((body !== undefined || bytes !== undefined) && { body: bytes ?? JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') && text !== ''
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: (isJson ? JSON.parse(text) : undefined) as never,
    }
  }

  /** Stops the registry without deleting its data. */
  async function stop() {
    if (!isRunning) return
    isRunning = false
    await running.close()
  }

  return {
    config,
    get url() {
      return running.url
    },
    get port() {
      return running.port
    },
    get setupCode() {
      return running.setupCode
    },
    systemToken: () => running.systemToken(),
    setLocalApi: (address: string) => running.setLocalApi(address),
    call,
    get: (path: string, options?: Call) => call('GET', path, options),
    post: (path: string, options?: Call) => call('POST', path, options),

    /** Creates an account, signs it in, and returns the session's token. */
    async register(username: string): Promise<string> {
      const { body } = await call('POST', '/v1/auth/register', {
        body: { username, password: `password of ${username}` },
      })
      return (body as SignedIn).access_token
    },

    /** Opens a separate connection to the database for the test. */
    async connect(): Promise<Connection> {
      const connection = await connect({ ...config, onConnectionLost: () => undefined })
      connections.push(connection)
      return connection
    },

    /** Downloads the bytes at one of the registry's URLs. */
    async bytes(url: string, headers: Record<string, string> = {}) {
      const response = await fetch(url, { headers })
      return {
        status: response.status,
        headers: response.headers,
        bytes: Buffer.from(await response.arrayBuffer()),
      }
    },

    stop,

    /** Starts the registry again with the same data and, except for `changes`, the same settings. */
    async start(changes: Partial<RegistryConfig> = {}) {
      running = await startNodes({ ...config, ...changes }, nodes)
      isRunning = true
    },

    /** Stops the registry, and starts it again with the same data. */
    async restart() {
      await stop()
      await this.start()
    },

    async close() {
      await Promise.all(connections.map((connection) => connection.close()))
      await stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Starts a registry with one or several nodes. Several nodes must share a database, a store and Redis. */
async function startNodes(
  config: RegistryConfig,
  count: number,
): Promise<Omit<RunningRegistry, 'isMisaddressed' | 'dataDirectory'>> {
  if (count === 1) return startRegistry(config)
  const { dataDirectory, trustProxy } = config
  const port = await freePort()
  const url = config.baseUrl ?? `http://localhost:${port}`
  const common = {
    ...config,
    baseUrl: url,
    trustProxy: typeof trustProxy === 'number' ? trustProxy + 1 : trustProxy || 1,
    peerAddress: '127.0.0.1',
  }
  const nodes: RunningRegistry[] = []
  let balancer: Balancer | undefined
  const close = async () => {
    await balancer?.stop()
    await Promise.all(nodes.map((node) => node.close()))
  }
  try {
    for (let number = 1; number <= count; number += 1) {
      const directory = join(dataDirectory, `node${number}`)
      nodes.push(await startRegistry({ ...common, dataDirectory: directory }))
    }
    balancer = await startBalancer(
      port,
      nodes.map((node) => node.port),
    )
  } catch (error) {
    await close()
    throw error
  }
  return {
    url,
    port,
    setupCode: nodes[0]?.setupCode,
    setLocalApi(address) {
      for (const node of nodes) node.setLocalApi(address)
    },
    systemToken: () => nodes[0]?.systemToken() ?? Promise.reject(new Error('no node')),
    close,
  }
}

/** The database with all tables and no rows, of which each test's database is a copy, and its name while it is made. */
const template = { name: 'shoal_template', draft: 'shoal_template_draft' }

/**
 * Creates a database, with all tables but without rows, on a PostgreSQL server, by default the tests' own. Returns its
 * URL.
 */
export async function makeDatabase(server?: { url: string }): Promise<string> {
  const name = `shoal_${crypto.randomUUID().replaceAll('-', '')}`
  const serverUrl = server?.url ?? (await postgresUrl())
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  try {
    await makeTemplate(client, serverUrl)
    await client.query(`create database ${name} template ${template.name}`)
  } finally {
    await client.end()
  }
  return databaseAt(serverUrl, name)
}

/** Creates the template unless the server has it: the migrations would take longer than most tests. */
async function makeTemplate(client: pg.Client, serverUrl: string) {
  const find = `select 1 from pg_database where datname = '${template.name}'`
  const isThere = async () => (await client.query(find)).rowCount === 1
  if (await isThere()) return
  await client.query('select pg_advisory_lock(1)') // test files run in several processes
  if (!(await isThere())) {
    await client.query(`drop database if exists ${template.draft}`)
    await client.query(`create database ${template.draft}`)
    const databaseUrl = databaseAt(serverUrl, template.draft)
    const options = { databaseUrl, dataDirectory: '', onConnectionLost: () => undefined }
    await (await connect(options)).close()
    await client.query(`alter database ${template.draft} rename to ${template.name}`)
  }
  await client.query('select pg_advisory_unlock(1)')
}

const databaseAt = (serverUrl: string, name: string) => serverUrl.replace(/\/postgres$/, `/${name}`)
