/** Runs the daemon with default settings, except for the folder, port, threads, context length and slots. */
import { readDaemonConfig, startDaemon } from '@shoal/daemon'
import { answer, readInput, waitForStop } from './child.ts'

export type DaemonInput = {
  models: string
  /** The number of threads; if undefined, the daemon chooses and adapts the number. */
  threads: number | undefined
  contextLength: number
  /** The number of concurrent conversations; if undefined, the daemon's default. */
  slots?: number
}

const { models, threads, contextLength, slots } = await readInput<DaemonInput>()
const flags = {
  port: '0',
  models,
  contextLength: String(contextLength),
  ...(threads !== undefined && { threads: String(threads) }),
  ...(slots !== undefined && { slots: String(slots) }),
}
const daemon = await startDaemon({ ...readDaemonConfig({}, flags), log: 'silent' })
await answer({ url: daemon.url })
await waitForStop()
await daemon.close()
if (process.connected) process.disconnect()
