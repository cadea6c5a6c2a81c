/** The process of the daemon: read, build, listen, close. */
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { buildApp } from './app.ts'
import type { DaemonConfig } from './config.ts'
import { makeMetrics, metered } from './http/metrics.ts'
import { loadedModels } from './models/loaded-models.ts'
import { localModels } from './models/local-models.ts'
import { startChildRuntime } from './runtime/child-runtime.ts'

export { type DaemonConfig, type DaemonFlags, readDaemonConfig } from './config.ts'
export { ConfigError } from './errors.ts'

export type RunningDaemon = {
  url: string
  port: number
  /** Whether calls have to carry a key of its own. */
  needsKey: boolean
  /** Loads a model, to stay. */
  preload(id: string): Promise<unknown>
  /** Lets running answers finish. */
  close(): Promise<void>
}

export async function startDaemon(config: DaemonConfig): Promise<RunningDaemon> {
  const log = makeLog(config)
  const local = localModels(config.modelsDirectory, config.memoryBytes)
  const metrics = makeMetrics()
  const startRuntime = metered(startChildRuntime, metrics)
  const models = loadedModels({ ...config, local, log, startRuntime })
  const app = await buildApp({ config, log, metrics, models, local })
  await app.listen({ host: config.host, port: config.port })
  const { port } = app.server.address() as AddressInfo
  return {
    url: `http://localhost:${port}`,
    port,
    needsKey: config.apiKey !== undefined,
    preload: (id) => models.load(id, -1),
    async close() {
      await app.close()
      await models.close()
    },
  }
}

function makeLog({ log }: DaemonConfig): pino.Logger {
  if (log === 'silent') return pino({ level: 'silent' })
  const destination = log === 'stdout' ? 1 : log.file
  return pino({ level: 'info' }, pino.destination({ dest: destination, mkdir: true, sync: true }))
}
