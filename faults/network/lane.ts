/**
 * A lane is one registry behind one fault proxy. All cells of a lane use the same transport, and run one after another.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { registryClient } from '@shoal/protocol/client'
import { testAuthority } from '../../testing/tls-certificates/index.ts'
import { sha256 } from '../harness/contents.ts'
import { collectFailures } from '../harness/failures.ts'
import { registryProcess } from '../harness/registry-process.ts'
import { until } from '../harness/waiting.ts'
import { runCommand, startCommand } from './command.ts'
import { startElsewhere } from './elsewhere.ts'
import { startFaultProxy } from './fault-proxy.ts'

/** How the CLI reaches the registry: directly, or through a forward proxy. */
export type Transport = 'http' | 'https' | 'proxied http' | 'proxied https'

export type LaneOptions = {
  transport: Transport
  folder: string
  logFolder: string
  /** A factor by which every timeout is multiplied. */
  timeoutFactor: number
  cleanup: DisposableStack
  /** Starts another forward proxy, which forwards to the proxy on this port. Returns the address of the new proxy. */
  inFront?: (port: number) => Promise<string>
}

export type Lane = Awaited<ReturnType<typeof openLane>>

/** The names of the model and the file that are pulled. */
export const modelName = 'large'
export const filename = 'large.gguf'

/** Another model, which has no seeders. */
export const lonelyModel = 'lonely'

/** Starts a registry and its fault proxy, and publishes one model. `bytes` is a GGUF file of two chunks. */
export async function openLane(options: LaneOptions, bytes: Uint8Array) {
  const { transport, folder, logFolder, timeoutFactor, cleanup } = options
  for (const path of [folder, logFolder]) mkdirSync(path, { recursive: true })
  const isTls = transport === 'https'
  const isProxied = transport.startsWith('proxied')
  const scheme = transport.endsWith('https') ? 'https' : 'http'
  const failures = collectFailures()
  const registryPort = (): number => Number(new URL(registry.origin()).port)
  const proxy = cleanup.use(await startFaultProxy({ isTls, registryPort }))
  const address = isProxied ? `${scheme}://registry.test` : `${scheme}://localhost:${proxy.port}`
  const elsewhere = cleanup.use(await startElsewhere(registryPort, new URL(address).host))

  const registry = cleanup.use(
    registryProcess({
      dataDirectory: join(folder, 'data'),
      databaseUrl: undefined,
      logFolder,
      temporaryFolder: folder,
      env: { SHOAL_BASE_URL: address },
      hasPipedLog: false,
      failures,
      timeoutFactor,
    }),
  )
  await registry.start()
  const origin = registry.origin()
  const { access_token: token } = await registryClient({ baseUrl: origin }).register({
    username: 'keeper',
    password: 'password of keeper',
    ...setupCodeIn(readFileSync(join(logFolder, 'registry.log'), 'utf8')),
  })
  const client = registryClient({ baseUrl: origin, token })

  const forwardProxy = (await options.inFront?.(proxy.port)) ?? `http://127.0.0.1:${proxy.port}`
  const env: Record<string, string> = {
    SHOAL_TOKEN: token,
    ...(scheme === 'https' && { SHOAL_CA_FILE: testAuthority }),
    ...(isProxied && { HTTP_PROXY: forwardProxy, HTTPS_PROXY: forwardProxy }),
  }
  await publish(modelName, bytes)

  async function publish(name: string, content: Uint8Array) {
    const path = join(folder, `${name}.gguf`)
    writeFileSync(path, content)
    await expectDone(['push', path, '--name', name], 'setup')
  }

  let publishing: Promise<void> | undefined

  async function expectDone(words: string[], home: string) {
    const place = join(folder, home)
    mkdirSync(place, { recursive: true })
    const command = [...words, '--json', '--registry', address]
    const timeoutMs = 60_000 * timeoutFactor
    const ended = await runCommand({ words: command, home: place, env, timeoutMs })
    if (ended.exitCode === 0) return
    throw new Error(
      `${words[0]} exited with ${ended.exitCode} although no fault was injected: ${ended.stderr}`,
    )
  }

  let seeding: Promise<void> | undefined
  /** Starts a seeder of the file, and waits until the seeder has announced itself to the tracker. */
  async function seed() {
    await expectDone(['pull', modelName], 'seeder')
    const words = ['seed', '--registry', address]
    const home = join(folder, 'seeder')
    const { child, output } = startCommand({ words, home, env })
    output.catch(() => undefined) // the seeder is killed at the end
    cleanup.defer(() => child.kill('SIGKILL'))
    const hasSeeder = async () => {
      if (child.exitCode !== null) throw new Error(`the seeder exited with ${child.exitCode}`)
      const [file] = await client.listFiles(modelName)
      return (file?.seeders ?? 0) > 0
    }
    await until('the file has a seeder', 30_000 * timeoutFactor, hasSeeder, 100)
  }

  return {
    address,
    env,
    client,
    proxy,
    elsewhere,
    failures,
    sha256: sha256(bytes),
    /** Publishes the lonely model with these bytes, unless it is already published. */
    ensureLonely(content: Uint8Array) {
      publishing ??= publish(lonelyModel, content)
      return publishing
    },
    ensureSeeder: () => {
      seeding ??= seed()
      return seeding
    },
    log: () => readFileSync(join(logFolder, 'registry.log'), 'utf8'),
    stop: () => registry.stop(),
  }
}

/**
 * Returns the last setup code in a log. A registry that is not on loopback requires this code. If a cell or a round is
 * repeated, the log also contains the code of an earlier registry.
 */
function setupCodeIn(log: string) {
  const [, code] = [...log.matchAll(/Setup code for the first account: (\S+)/g)].at(-1) ?? []
  return code === undefined ? {} : { setup_code: code }
}
