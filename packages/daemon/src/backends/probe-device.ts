import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { childPort, openRpc, type ProcessEnd } from '@shoal/core/rpc'
import type { Device, ProbeMethods } from './probe-process.ts'

const timeoutMs = 30_000

/**
 * Determines the device that the runtime would use. The check runs in a separate process, because a broken driver may
 * crash it.
 */
export async function probeDevice(backendsDirectory: string): Promise<Device> {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const script = fileURLToPath(new URL(`./probe-process.${extension}`, import.meta.url))
  const child = fork(script, {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
    execArgv: [],
    timeout: timeoutMs,
  })
  const toError = ({ how }: ProcessEnd) => new Error(`the runtime ${how}`)
  const rpc = openRpc<ProbeMethods>(childPort(child, toError))
  return rpc.call('probe', backendsDirectory).finally(() => child.kill('SIGKILL'))
}
