import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type DaemonConfig, readDaemonConfig, startDaemon } from '../main.ts'
import type { StartRuntime } from '../runtime/runtime.ts'

export const shippedModels = join(import.meta.dirname, '../../../../models')

/** Creates a folder of local models that contains the demo models, arranged as a pull would store them. */
export function demoModelsFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-daemon-'))
  for (const name of ['shoal-tiny', 'shoal-nano']) {
    const isModel = (path: string) => !path.includes('scripts') && !/\.(md|py)$/.test(path)
    cpSync(join(shippedModels, name), join(folder, name), { recursive: true, filter: isModel })
  }
  return folder
}

/** Starts a real daemon with the demo models, on a port chosen by the system. `close` also deletes the models. */
export async function startTestDaemon(
  settings: Partial<DaemonConfig> = {},
  startRuntime?: StartRuntime,
) {
  const folder = demoModelsFolder()
  const config: DaemonConfig = {
    ...readDaemonConfig({}, { models: folder, port: '0' }),
    threads: 1, // on a busy machine, threads that must synchronize can be a hundred times slower
    log: 'silent',
    ...settings,
  }
  const daemon = await startDaemon(config, startRuntime)
  return {
    ...daemon,
    folder,
    async close() {
      await daemon.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export type TestDaemon = Awaited<ReturnType<typeof startTestDaemon>>

export async function useTestDaemon(
  settings: Partial<DaemonConfig> = {},
  startRuntime?: StartRuntime,
) {
  const daemon = await startTestDaemon(settings, startRuntime)
  onTestFinished(() => daemon.close())
  return daemon
}
