import { randomUUID } from 'node:crypto'
import type { Context } from '../context.ts'
import { type DaemonClient, daemonClient } from './daemon-client.ts'
import { findDaemon, openClient } from './find-daemon.ts'
import { readConfig } from './read-config.ts'
import { describeStranger } from './stranger.ts'

export type OpenDaemon = AsyncDisposable & {
  client: DaemonClient
  /** Whether it goes with this command. */
  isOwn: boolean
}

/** The daemon of ours that answers, or one in this process, at a port that the system gives, for as long as it is needed. */
export async function openDaemon(context: Context, named?: string): Promise<OpenDaemon> {
  const found = await findDaemon(context, named)
  if (found.from !== 'nowhere') {
    const client = await openClient(found)
    return { client, isOwn: false, [Symbol.asyncDispose]: async () => undefined }
  }
  if (found.stranger) {
    const { text, advice } = describeStranger(found.stranger)
    context.printer.note(`  ${text} It is not used; the model runs in this process. ${advice}`)
  }
  return await startOwnDaemon(context)
}

/** For this command alone. */
export async function startOwnDaemon({
  surroundings,
  places,
}: Pick<Context, 'surroundings' | 'places'>): Promise<OpenDaemon> {
  const { startDaemon } = await import('@shoal/daemon')
  // One person talks to it: memory for one conversation will do.
  const flags = { host: '127.0.0.1', port: '0', models: places.models, slots: '1' }
  const config = await readConfig(surroundings, flags)
  // A key that nobody else knows: it is for this command alone.
  const apiKey = randomUUID()
  const running = await startDaemon({
    ...config,
    backendsDirectory: places.backends,
    // Its models go with this command: one that is loaded for it need not be loaded again for each question.
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
