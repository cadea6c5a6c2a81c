/** The registries that appear in screenshots: one with many models, and one with none. */
import { type RegistryClient, registryClient } from '@shoal/protocol/client'
import { type RegistryConfig, readRegistryConfig, startRegistry } from '@shoal/registry'
import { openChunkGate } from '../../../packages/registry/src/testing/chunk-gate.ts'
import { fill } from '../../harness/filled-registry.ts'
import { temporaryFolder } from '../../harness/temporary-folder.ts'
import { addPeers } from './peers.ts'
import { keeper, makeOlder, registerPeople } from './people.ts'

export type ShownRegistry = Awaited<ReturnType<typeof startShownRegistry>>

/** Starts a registry with many models, some of which belong to the signed-in user. A gate can stop uploads halfway. */
export async function startShownRegistry() {
  await using stack = new AsyncDisposableStack()
  const data = stack.use(temporaryFolder())
  const token = await register(data.path)
  await fill({ dataDirectory: data.path, databaseUrl: undefined, models: 'shown' })
  await makeOlder(data.path)
  const gate = stack.use(await openChunkGate())
  const registry = stack.use(await start(data.path, { baseUrl: gate.url }))
  gate.leadTo(registry.port)
  const client = registryClient({ baseUrl: gate.url, token })
  const { access_token } = await registryClient({ baseUrl: gate.url }).login(keeper)
  const cookiesFor = (value: string) => [{ name: 'shoal_session', value, url: gate.url }]
  await addDraft(client)
  await addPeers(client)
  const all = stack.move()
  return {
    origin: gate.url,
    gate,
    client,
    cookies: cookiesFor(token),
    admin: registryClient({ baseUrl: gate.url, token: access_token }),
    adminCookies: cookiesFor(access_token),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

export async function startEmptyRegistry() {
  await using stack = new AsyncDisposableStack()
  const data = stack.use(temporaryFolder())
  const { origin } = stack.use(await start(data.path))
  const all = stack.move()
  return { origin, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

async function start(folder: string, changes: Partial<RegistryConfig> = {}) {
  const config = readRegistryConfig({}, { port: '0', data: folder })
  const registry = await startRegistry({
    ...config,
    rateLimits: undefined,
    log: 'silent',
    ...changes,
  })
  const { url, port, close } = registry
  return { origin: url, port, [Symbol.asyncDispose]: close }
}

/** Creates the accounts before the models, so that the models have owners. */
async function register(folder: string): Promise<string> {
  await using registry = await start(folder)
  return await registerPeople(registry.origin)
}

/** Adds a model without files. */
async function addDraft(client: RegistryClient) {
  await client.createModel({
    name: 'tide-7b',
    display_name: 'Tide 7B',
    description:
      'Forecasts of tides and currents in plain words. Files will follow once they are tested.',
    license: 'apache-2.0',
    tags: ['ocean', 'text-generation'],
    is_public: false,
  })
}
