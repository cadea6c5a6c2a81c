import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** What would compute: the best of what is installed and works on this machine. */
export type Device = {
  kind: 'cpu' | 'cuda' | 'vulkan' | 'metal'
  /** Of the graphics cards. */
  names: string[]
  /** Memory of the graphics cards together; 0 without any. */
  memoryBytes: number
}

const patienceMs = 30_000

/** Looks in a process of its own: a driver that is broken may take its process along. */
export async function probeDevice(backendsDirectory: string): Promise<Device> {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const script = fileURLToPath(new URL(`./probe-process.${extension}`, import.meta.url))
  const child = fork(script, [backendsDirectory], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
    execArgv: [],
    timeout: patienceMs,
  })
  return new Promise<Device>((resolve, reject) => {
    child.once('message', (device) => resolve(device as Device))
    child.once('error', reject)
    child.once('exit', (code, signal) =>
      reject(new Error(`the runtime ended with ${signal ?? code}`)),
    )
  })
}
