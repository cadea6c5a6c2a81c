import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { registryClient } from '@shoal/protocol/client'
import { onTestFinished } from 'vitest'
import type { PullEvent } from '../events.ts'
import { pullFile } from '../pull/pull-file.ts'
import type { PullOptions } from '../pull/pull-options.ts'
import { quickTuning } from './quick-tuning.ts'
import { type ScriptedOrigin, startScriptedOrigin } from './scripted-origin.ts'
import { type SyntheticFile, toModelFile } from './synthetic-file.ts'

export type PullScene = {
  origin: ScriptedOrigin
  directory: string
  path: string
  events: PullEvent[]
  pull(changes?: Partial<PullOptions>): ReturnType<typeof pullFile>
}

/**
 * Starts an origin that serves one file, and creates an empty directory into which the file is pulled. After the test,
 * the origin is closed and the directory is removed.
 */
export async function pullScene(file: SyntheticFile): Promise<PullScene> {
  const origin = await startScriptedOrigin(file)
  const directory = temporaryDirectory()
  onTestFinished(() => origin.close())
  const path = join(directory, 'tiny', 'model.gguf')
  const events: PullEvent[] = []
  return {
    origin,
    directory,
    path,
    events,
    pull: (changes) =>
      pullFile({
        client: registryClient({ baseUrl: origin.url, token: 'secret' }),
        modelName: 'tiny',
        file: toModelFile(file),
        path,
        tuning: quickTuning,
        onEvent: (event) => events.push(event),
        ...changes,
      }),
  }
}

export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'shoal-transfer-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

export function filterEvents<T extends PullEvent['type']>(events: PullEvent[], type: T) {
  return events.filter((event) => event.type === type) as Extract<PullEvent, { type: T }>[]
}
