import { sep } from 'node:path'
import { type AppError, hasCode } from '@shoal/core/errors'
import { shellWord } from '@shoal/core/references'
import type { ModelFile } from '@shoal/protocol/client'
import type { PulledFile } from '@shoal/transfer'
import type { Context, Registry } from '../context.ts'
import { Failure } from '../terminal/failure.ts'
import { openProgress } from '../terminal/progress.ts'
import { computePercent, type ProgressStatus } from '../terminal/progress-frame.ts'
import { formatBytes } from '../terminal/units.ts'
import { type LimitOptions, readLimits } from './limits.ts'
import { type PeerOptions, readPeerSettings } from './peer-options.ts'
import { pullReport } from './pull-report.ts'

type PullFilesOptions = {
  registry: Registry
  modelName: string
  /** The title to show: `shoal-tiny:Q8_0`. */
  title: string
  parts: readonly { file: ModelFile; path: string }[]
  /** The models folder; undefined if the files are stored elsewhere. */
  modelsDirectory: string | undefined
  limits: LimitOptions & PeerOptions
}

/** Pulls a file, or all parts of a split file, and shows one progress bar. */
export async function pullFiles(
  context: Context,
  options: PullFilesOptions,
): Promise<PulledFile[]> {
  const { printer } = context
  const { registry, modelName, title, parts, modelsDirectory } = options
  const signal = context.takeStopSignal()
  const { pullFile, sameFilesIn } = await import('@shoal/transfer')
  const network = await context.networkSettings()
  const bytesTotal = parts.reduce((sum, { file }) => sum + file.file_size_bytes, 0)
  const findSame = modelsDirectory === undefined ? undefined : sameFilesIn(modelsDirectory)
  const progress = await openProgress(printer, title)
  const report = pullReport(printer, progress, bytesTotal)
  const limits = {
    ...readLimits(options.limits, context, 'pull'),
    ...readPeerSettings(options.limits, context),
  }
  const pulled: PulledFile[] = []
  try {
    for (const part of parts) {
      pulled.push(
        await pullFile({
          client: registry.client,
          network,
          modelName,
          findSame,
          ...part,
          ...limits,
          signal,
          onEvent: report.onEvent,
        }),
      )
      report.nextPart(part.file.file_size_bytes)
    }
  } catch (error) {
    progress.end()
    if (signal.aborted) throw stopped(report.status(), error)
    if (hasCode(error, 'damaged_file')) throw await damaged(context, error)
    if (report.bytesDone() > 0)
      printer.note(`  Kept ${formatBytes(report.bytesDone())} of downloaded data.`)
    throw error
  }
  progress.end()
  return pulled
}

/** Creates the failure for a damaged file. Only files in the models folder can be repaired with `shoal verify`. */
async function damaged({ places }: Context, cause: AppError<'damaged_file'>): Promise<Failure> {
  const { path } = cause.details
  const isAmongModels = path.startsWith(places.models + sep)
  const { localModelName } = await import('@shoal/transfer')
  const modelName = localModelName(places.models, path)
  return new Failure('verification_failed', `${path} is damaged.`, {
    hint: isAmongModels
      ? `It has changed since it was downloaded. To repair it: shoal verify --repair ${shellWord(modelName)}`
      : 'It has changed since it was downloaded. Delete it, then run the same command again.',
    details: { path },
    cause,
  })
}

function stopped(status: ProgressStatus, cause: unknown): Failure {
  const { bytesDone, bytesTotal } = status
  const [message, hint] =
    bytesDone > 0
      ? [
          `Stopped at ${computePercent(status)}%. Downloaded data is kept.`,
          `Run the same command again to resume from ${formatBytes(bytesDone)}.`,
        ]
      : [
          'Stopped before any data was downloaded.',
          'Run the same command again to start the download.',
        ]
  return new Failure('stopped', message, {
    hint,
    details: { bytes_done: bytesDone, bytes_total: bytesTotal },
    cause,
  })
}
