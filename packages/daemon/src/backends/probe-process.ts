/** Started by `probe-device.ts`: loads the runtime as a model's process would, tells what it computes on, and ends. */
import { getLlama, LlamaLogLevel } from 'node-llama-cpp'
import type { Device } from './probe-device.ts'
import { useBackendsOf } from './use-backends.ts'

useBackendsOf(process.argv[2] ?? '')
const llama = await getLlama({
  build: 'never',
  skipDownload: true,
  gpu: 'auto',
  logLevel: LlamaLogLevel.disabled,
  progressLogs: false,
})
const names = await llama.getGpuDeviceNames()
const device: Device = {
  kind: llama.gpu === false || names.length === 0 ? 'cpu' : llama.gpu,
  names,
  memoryBytes: (await llama.getVramState()).total,
}
process.send?.(device, () => process.exit(0))
