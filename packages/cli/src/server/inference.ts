/**
 * The local API of `shoal up`, in the same process as the registry. A failure of the local API does not stop the
 * registry.
 */
import { join } from 'node:path'
import type { RunningRegistry } from '@shoal/registry'
import type { Context } from '../context.ts'
import { getDefaultPort } from '../daemon/find-daemon.ts'
import { otherRegistries } from '../daemon/other-registries.ts'
import { parseDaemonConfig } from '../daemon/read-config.ts'
import { type StartedDaemon, startNotedDaemon } from '../daemon/start-daemon.ts'
import { findRunningDaemon } from '../daemon/state-file.ts'
import { talkingDemo } from '../demo/demo-models.ts'
import { toFailure } from '../failures/to-failure.ts'
import { isComplete, listLocalChoices } from '../models/local-models.ts'
import { modelFoldersReader } from '../settings/model-folders.ts'
import { Failure } from '../terminal/failure.ts'
import { readPullLimits } from '../transfers/limits.ts'
import { preparePull, runPull } from '../transfers/pull-model.ts'

type Options = { registry: RunningRegistry; port: number | undefined; withDemo: boolean }

export type Inference = {
  url: string
  /** The model that was loaded, if any. */
  model: string | undefined
  close(): Promise<void>
}

/**
 * Starts the local API, and passes its address to the registry's pages. If the start fails, prints a warning, passes on
 * the address of the user's running daemon (if any), and returns undefined.
 */
export async function tryToStartInference(
  context: Context,
  { registry, port, withDemo }: Options,
): Promise<Inference | undefined> {
  const daemon = await startDaemon(context, registry, port).catch((error: unknown) =>
    warnFailed(context, 'The local API could not be started', error),
  )
  if (!daemon) {
    registry.setLocalApi((await findOwnDaemon(context)) ?? '')
    return undefined
  }
  registry.setLocalApi(daemon.url)
  const model = withDemo ? await tryToLoadDemo(context, registry, daemon) : undefined
  return { url: daemon.url, model, close: daemon.close }
}

/** Returns the address of the user's running daemon, unless the daemon cannot prove its identity. */
export async function findOwnDaemon(context: Context): Promise<string | undefined> {
  const running = await findRunningDaemon(context.places)
  return running?.token === undefined ? undefined : running.url
}

async function startDaemon(context: Context, registry: RunningRegistry, port: number | undefined) {
  const { environment, places } = context
  // In `shoal up`, SHOAL_HOST and SHOAL_PORT apply to the registry, not to the local API.
  const config = await parseDaemonConfig(environment, {
    host: '127.0.0.1',
    port: String(port ?? getDefaultPort(context)),
    models: places.models,
  })
  return await startNotedDaemon(context, {
    config: {
      ...config,
      backendsDirectory: places.backends,
      registry: {
        address: registry.url,
        token: undefined,
        network: await context.networkSettings(),
      },
      otherRegistries: otherRegistries(context),
      pullLimits: () => readPullLimits(context),
      modelFolders: modelFoldersReader(environment.env, places),
      log: { file: join(registry.dataDirectory, 'daemon.log') },
    },
    command: 'up',
    portOption: 'shoal up --inference-port',
  })
}

async function tryToLoadDemo(context: Context, registry: RunningRegistry, daemon: StartedDaemon) {
  try {
    if (!(await isDemoHere(context))) await pullDemo(context, registry)
    await daemon.preload(talkingDemo)
    return talkingDemo
  } catch (error) {
    // The demo model may have been deleted from the registry.
    if (error instanceof Failure && error.code === 'not_found') return undefined
    return warnFailed(context, `${talkingDemo} could not be loaded`, error)
  }
}

async function isDemoHere(context: Context): Promise<boolean> {
  const choices = await listLocalChoices(context)
  return choices.some((choice) => choice.modelName === talkingDemo && isComplete(choice))
}

/** Pulls the demo model from the registry that was just started. */
async function pullDemo(context: Context, registry: RunningRegistry) {
  context.printer.note('Downloading a model for the local API:')
  const token = await registry.systemToken()
  const fromHere = { ...context, openRegistry: () => context.openRegistry(registry.url, token) }
  await runPull(fromHere, await preparePull(fromHere, talkingDemo))
}

function warnFailed({ printer, takeStopSignal }: Context, what: string, error: unknown): undefined {
  if (takeStopSignal().aborted) return
  const { message, hint } = toFailure(error, undefined)
  printer.warn(`${what}: ${message}`)
  for (const line of hint?.split('\n') ?? []) printer.note(`  ${line}`)
}
