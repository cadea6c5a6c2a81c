import { randomUUID } from 'node:crypto'
import type { InferenceClient } from '@shoal/protocol/inference-client'
import type { Context } from '../context.ts'
import { daemonClient } from './daemon-client.ts'
import { findDaemon, openClient } from './find-daemon.ts'
import { parseDaemonConfig } from './read-config.ts'
import { describeStranger } from './stranger.ts'

export type OpenDaemon = AsyncDisposable & {
  client: InferenceClient
  /** Whether this command has started the daemon. Such a daemon stops when the command ends. */
  isOwn: boolean
}

/**
 * Returns the user's running daemon. If there is none, starts one in this process, on a free port, that stops when the
 * command ends.
 */
export async function openDaemon(context: Context, named?: string): Promise<OpenDaemon> {
  const found = await findDaemon(context, named)
  if (found.from !== 'nowhere') {
    const client = await openClient(found)
    return { client, isOwn: false, [Symbol.asyncDispose]: async () => undefined }
  }
  if (found.stranger) {
    const { text, advice } = describeStranger(found.stranger)
    context.printer.note(`  ${text} The model runs in this process instead. ${advice}`)
  }
  return await startOwnDaemon(context)
}

/** Starts a daemon for this command only. */
export async function startOwnDaemon({
  environment,
  places,
}: Pick<Context, 'environment' | 'places'>): Promise<OpenDaemon> {
  const { startDaemon } = await import('@shoal/daemon')
  // One slot is enough, because only this command uses the daemon.
  const flags = { host: '127.0.0.1', port: '0', models: places.models, slots: '1' }
  const config = await parseDaemonConfig(environment, flags)
  // A random key ensures that only this command can use the daemon.
  const apiKey = randomUUID()
  const running = await startDaemon({
    ...config,
    backendsDirectory: places.backends,
    // Models stay loaded until the command ends, so that they need not be loaded again for each question.
    keepAliveMs: -1,
    apiKey,
    log: 'silent',
  })
  return {
    client: daemonClient({ url: running.url, apiKey }),
    isOwn: true,
    [Symbol.asyncDispose]: () => running.close(),
  }
}
