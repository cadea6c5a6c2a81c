/** Starts a daemon: builds the server, listens, and closes everything on shutdown. */
import type { AddressInfo } from 'node:net'
import { openLog } from '@shoal/log'
import { createDrain } from '@shoal/server'
import { findChatSite } from '@shoal/web'
import { buildApp } from './app.ts'
import type { DaemonConfig } from './config.ts'
import { localUrl, refuseExposure } from './http/listening-address.ts'
import { makeMetrics, metered } from './http/metrics.ts'
import { checkInBackground } from './models/check-files.ts'
import { loadedModels } from './models/loaded-models.ts'
import { localModels } from './models/local-models.ts'
import { searchInBackground } from './models/search-folders.ts'
import { knownRegistries } from './pulls/known-registries.ts'
import { modelPulls } from './pulls/pull-model.ts'
import { reportCutCalls } from './runtime/cut-calls.ts'
import { startChildRuntime } from './runtime/process/child-runtime.ts'
import type { StartRuntime } from './runtime/runtime.ts'
import { startSharing } from './sharing/start-sharing.ts'

export {
  type Backend,
  type BackendName,
  backendNames,
  installBackend,
  listBackends,
  removeBackend,
} from './backends/backends.ts'
export { probeDevice } from './backends/probe-device.ts'
export type { Device } from './backends/probe-process.ts'
export { type DaemonConfig, type DaemonFlags, readDaemonConfig } from './config.ts'

export type RunningDaemon = {
  url: string
  port: number
  /** Whether requests must carry the daemon's key. */
  needsKey: boolean
  /** The number of files that are shared with peers; undefined if sharing is off. */
  sharedFiles: number | undefined
  /** Loads a model, and keeps it loaded while it is idle. */
  preload(id: string): Promise<unknown>
  /** Shuts the daemon down. Answers in progress may take up to 30 seconds to finish. */
  close(): Promise<void>
}

const drainTimeoutMs = 30_000

/**
 * Starts a daemon. `start` loads a model; tests replace llama.cpp's implementation with a scripted one. Throws a
 * `ConfigError` if `refuseExposure` finds that other machines could use the daemon without a key, and the system's
 * error if the port is in use.
 */
export async function startDaemon(
  config: DaemonConfig,
  start: StartRuntime = startChildRuntime,
): Promise<RunningDaemon> {
  await using started = new AsyncDisposableStack() // closes what was started if a later step fails
  const { log, droppedLines, close: closeLog } = openLog({ to: config.log, level: 'info' })
  started.defer(closeLog)
  const local = localModels(config.modelsDirectory, config.memoryBytes, log)
  const metrics = makeMetrics({ droppedLogLines: droppedLines })
  const { backendsDirectory } = config
  const startRuntime = metered(
    reportCutCalls((options, signal) => start({ ...options, backendsDirectory }, signal)),
    metrics,
  )
  const models = loadedModels({ ...config, local, log, startRuntime })
  const registries = knownRegistries(config, log)
  const pulls = modelPulls({ settings: config, registries })
  const sharing = await startSharing(config, log)
  const searching = searchInBackground(config, log)
  started.defer(checkInBackground(config.modelsDirectory, searching.firstSearch, log))
  started.defer(searching.stop)
  started.defer(async () => {
    const shared = sharing?.close().catch((error) => {
      log.error({ err: error }, 'sharing did not stop gracefully')
    })
    await Promise.all([models.close(), shared])
  })
  const chat = findChatSite()
  const app = await buildApp({
    config,
    log,
    metrics,
    models,
    local,
    registries,
    pulls,
    sharing,
    chat,
  })
  started.defer(createDrain(app, drainTimeoutMs))
  await app.listen({ host: config.host, port: config.port })
  refuseExposure(config, app.addresses() as AddressInfo[])
  const { port } = app.server.address() as AddressInfo
  const running = started.move()
  return {
    url: localUrl(config.host, port),
    port,
    needsKey: config.apiKey !== undefined,
    sharedFiles: sharing?.fileCount(),
    async preload(id) {
      await searching.firstSearch
      return await models.load(id, { keepAliveMs: -1 })
    },
    close: () => running.disposeAsync(),
  }
}
