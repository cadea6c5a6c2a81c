import type { NetworkSettings } from '@shoal/network'
import type { ModelFile, RegistryClient } from '@shoal/protocol/client'
import type { Limit } from '@shoal/transfer'
import { Failure } from '../terminal/failure.ts'
import type { Printer } from '../terminal/printer.ts'
import { openProgress } from '../terminal/progress.ts'
import { computePercent } from '../terminal/progress-frame.ts'
import { pushReport } from './push-report.ts'

type PushFilesOptions = {
  client: RegistryClient
  network?: NetworkSettings
  modelName: string
  files: readonly { path: string; filename: string; sizeBytes: number }[]
  rateLimit?: Limit | undefined
  connections?: number | undefined
  signal: AbortSignal
}

/** Uploads files to an existing model, and shows one progress bar for all of them. */
export async function pushFiles(printer: Printer, options: PushFilesOptions): Promise<ModelFile[]> {
  const { files, signal } = options
  const transfer = await import('@shoal/transfer')
  const bytesTotal = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  const progress = await openProgress(printer, options.modelName)
  const report = pushReport(printer, progress, bytesTotal)
  const sizes = new Map(files.map(({ filename, sizeBytes }) => [filename, sizeBytes]))
  try {
    return await transfer.pushFiles({
      ...options,
      onEvent: (filename, event) => report.onEvent(filename, sizes.get(filename) ?? 0, event),
    })
  } catch (error) {
    if (!signal.aborted) throw error
    const message = `Stopped at ${computePercent(report.status())}%. Uploaded data is kept.`
    const hint = 'Run the same command again to resume.'
    throw new Failure('stopped', message, { hint, cause: error })
  } finally {
    progress.end()
  }
}
