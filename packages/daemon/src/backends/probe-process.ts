/**
 * The process that `probe-device.ts` starts. Loads the runtime as a model's process does, and reports the runtime's
 * device.
 */
import { openRpc, parentProcessPort } from '@shoal/core/rpc'
import { getLlama, LlamaLogLevel } from 'node-llama-cpp'
import { useBackends } from './use-backends.ts'

/** The device that a model would use: the best one that is installed and works on this machine. */
export type Device = {
  kind: 'cpu' | 'cuda' | 'vulkan' | 'metal'
  /** Names of the graphics cards. */
  names: string[]
  /** Total memory of the graphics cards in bytes; 0 if there are none. */
  memoryBytes: number
}

export type ProbeMethods = typeof methods

const methods = {
  async probe(backendsDirectory: string): Promise<Device> {
    useBackends(backendsDirectory)
    const llama = await getLlama({
      build: 'never',
      skipDownload: true,
      gpu: 'auto',
      logLevel: LlamaLogLevel.disabled,
      progressLogs: false,
    })
    const names = await llama.getGpuDeviceNames()
    return {
      kind: llama.gpu === false || names.length === 0 ? 'cpu' : llama.gpu,
      names,
      memoryBytes: (await llama.getVramState()).total,
    }
  },
}
openRpc(parentProcessPort(process, { ignoresInterrupt: false }), methods)
