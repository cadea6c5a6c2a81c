/** Starts a daemon in this process, and writes `daemon.json`, which other commands use to find the daemon. */

import { randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import type { DaemonConfig, RunningDaemon } from '@shoal/daemon'
import { makeFolder } from '@shoal/files'
import type { Context } from '../context.ts'
import { listenFailure } from './listen-failure.ts'
import { putOldLogAside } from './log-file.ts'
import {
  type DaemonState,
  findRunningDaemon,
  forgetDaemonState,
  writeDaemonState,
} from './state-file.ts'

export type StartedDaemon = RunningDaemon & {
  /** The user's daemon that was already running, if any. Commands continue to use it. */
  other: DaemonState | undefined
}

type Options = {
  config: DaemonConfig
  command: DaemonState['command']
  /** The option that sets the port, such as `shoal serve --port`. */
  portOption: string
}

export async function startNotedDaemon(
  { places }: Pick<Context, 'places'>,
  { config, command, portOption }: Options,
): Promise<StartedDaemon> {
  const { startDaemon } = await import('@shoal/daemon')
  const other = await findRunningDaemon(places)
  const { log } = config
  if (typeof log === 'object') makeFolder(dirname(log.file))
  if (!other && typeof log === 'object') await putOldLogAside(log.file)
  const token = randomBytes(32).toString('base64url')
  const proving = { ...config, proofToken: token }
  const running = await startDaemon(proving).catch(async (error: unknown) => {
    throw await listenFailure(error, portOption, other)
  })
  const { url, port } = running
  if (!other) {
    await writeDaemonState(places, {
      pid: process.pid,
      url,
      port,
      started_at: new Date().toISOString(),
      log_file: typeof log === 'object' ? log.file : null,
      command,
      shared_directory: config.sharing ? config.modelsDirectory : null,
      token,
    })
  }
  return {
    ...running,
    other,
    async close() {
      // `daemon.json` is removed first, so that no command finds a daemon that no longer accepts requests.
      if (!other) await forgetDaemonState(places, process.pid)
      await running.close()
    },
  }
}
