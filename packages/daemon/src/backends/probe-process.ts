/** Started by `probe-device.ts`: loads the runtime as a model's process would, and tells what it computes on. */
import { openRpc, parentProcessPort } from '@shoal/core/rpc'
import { getLlama, LlamaLogLevel } from 'node-llama-cpp'
import type { Device } from './probe-device.ts'
import { useBackendsOf } from './use-backends.ts'

export type ProbeMethods = typeof methods

const methods = {
  async probe(backendsDirectory: string): Promise<Device> {
    useBackendsOf(backendsDirectory)
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
openRpc(parentProcessPort(process), methods)
