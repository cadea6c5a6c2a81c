import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { childPort, openRpc, type ProcessEnd } from '@shoal/core/rpc'
import type { ArchiveOptions } from '../make/pack-archive.ts'
import type { PackMethods } from './pack-process.ts'

const stderrLength = 2_000
const heapMb = 64

/**
 * Packs an archive in a separate process with a low priority. The process has ended when the promise settles.
 * @throws an error if packing fails, or the signal's reason if the signal is aborted; an incomplete archive may then be
 * left behind
 */
export async function packAtLowPriority(
  options: ArchiveOptions,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted()
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const { PATH } = process.env
  const child = fork(fileURLToPath(new URL(`./pack-process.${extension}`, import.meta.url)), {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    serialization: 'advanced',
    env: PATH === undefined ? {} : { PATH }, // without variables that contain secrets
    execArgv: [`--max-old-space-size=${heapMb}`],
  })
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (more: string) => {
    stderr = (stderr + more).slice(0, stderrLength)
  })
  const toError = ({ how }: ProcessEnd) => new Error(`the packing process ${how}: ${stderr}`)
  const rpc = openRpc<PackMethods>(childPort(child, toError))
  const kill = () => child.kill('SIGKILL')
  signal.addEventListener('abort', kill)
  try {
    await rpc.call('pack', options)
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  } finally {
    signal.removeEventListener('abort', kill)
    if (child.pid !== undefined && (child.exitCode ?? child.signalCode) === null) {
      const exited = once(child, 'exit')
      kill()
      await exited
    }
  }
}
