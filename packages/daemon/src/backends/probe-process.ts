/** Started by `probe-device.ts`: loads the runtime as a model's process would, and tells what it computes on. */
import { openRpc, parentProcessPort } from '@shoal/core/rpc'
import { getLlama, LlamaLogLevel } from 'node-llama-cpp'
import { useBackends } from './use-backends.ts'

/** What would compute: the best of what is installed and works on this machine. */
export type Device = {
  kind: 'cpu' | 'cuda' | 'vulkan' | 'metal'
  /** Of the graphics cards. */
  names: string[]
  /** Memory of the graphics cards together; 0 without any. */
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
