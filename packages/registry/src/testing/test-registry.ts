import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SignedIn } from '@shoal/protocol'
import pg from 'pg'
import { afterAll, describe, inject } from 'vitest'
import type { RegistryConfig } from '../config.ts'
import { type Connection, connect } from '../database/connect.ts'
import { readRegistryConfig, startRegistry } from '../main.ts'

export type TestRegistry = Awaited<ReturnType<typeof startTestRegistry>>
export type Answer = { status: number; headers: Headers; body: never; text: string }

type Call = {
  token?: string | undefined
  body?: unknown
  headers?: Record<string, string>
  /** Sent as it is, instead of JSON. */
  bytes?: Uint8Array<ArrayBuffer> | string
}

/** Runs the tests on each database; without PostgreSQL its half is skipped. */
export function describeOnEachDatabase(
  title: string,
  tests: (start: (settings?: Partial<RegistryConfig>) => Promise<TestRegistry>) => void,
) {
  const postgresUrl = inject('postgresUrl')
  for (const engine of ['SQLite', 'PostgreSQL'] as const) {
    describe.skipIf(engine === 'PostgreSQL' && !postgresUrl)(`${title} (${engine})`, () => {
      const started: TestRegistry[] = []
      afterAll(() => Promise.all(started.map((registry) => registry.close())))
      tests(async (settings = {}) => {
        const databaseUrl = engine === 'SQLite' ? undefined : await makeDatabase(postgresUrl ?? '')
        const registry = await startTestRegistry({ databaseUrl, ...settings })
        started.push(registry)
        return registry
      })
    })
  }
}

/** A real registry on a port chosen by the system, with its data in a temporary folder. */
export async function startTestRegistry(settings: Partial<RegistryConfig> = {}) {
  const directory = settings.dataDirectory ?? (await mkdtemp(join(tmpdir(), 'shoal-registry-')))
  const config: RegistryConfig = {
    ...readRegistryConfig({}, { port: '0', data: directory }),
    rateLimits: undefined,
    ballastBytes: 0, // otherwise hundreds of registries would write one
    log: 'silent',
    ...settings,
  }
  let running = await startRegistry(config)
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

  /** Stops the process's part; the data stays. */
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

    /** Creates an account and signs it in. */
    async register(username: string): Promise<string> {
      const { body } = await call('POST', '/v1/auth/register', {
        body: { username, password: `password of ${username}` },
      })
      return (body as SignedIn).access_token
    },

    /** A separate connection to the database, for the test. */
    async connect(): Promise<Connection> {
      const connection = await connect({ ...config, onConnectionLost: () => undefined })
      connections.push(connection)
      return connection
    },

    /** The bytes behind one of our URLs. */
    async bytes(url: string, headers: Record<string, string> = {}) {
      const response = await fetch(url, { headers })
      return {
        status: response.status,
        headers: response.headers,
        bytes: Buffer.from(await response.arrayBuffer()),
      }
    },

    stop,

    /** Restarts on the same data, with the same or with other settings. */
    async start(changes: Partial<RegistryConfig> = {}) {
      running = await startRegistry({ ...config, ...changes })
      isRunning = true
    },

    /** Stops the process's part and starts it again on the same data. */
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

/** A fresh database on the server, deleted with it. */
export async function makeDatabase(serverUrl: string): Promise<string> {
  const name = `shoal_${crypto.randomUUID().replaceAll('-', '')}`
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  try {
    await client.query(`create database ${name}`)
  } finally {
    await client.end()
  }
  return serverUrl.replace(/\/postgres$/, `/${name}`)
}
