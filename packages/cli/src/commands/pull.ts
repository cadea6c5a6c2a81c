import { dirname, sep } from 'node:path'
import type { PulledFile } from '@shoal/transfer'
import { Command } from 'commander'
import type { Context, OpenContext } from '../context.ts'
import { readSaved } from '../settings/config.ts'
import type { Printer } from '../terminal/printer.ts'
import { formatBytes, plural } from '../terminal/units.ts'
import { addLimitOptions, type LimitOptions } from '../transfers/limits.ts'
import { addPeerOptions, type PeerOptions } from '../transfers/peer-options.ts'
import { type PreparedPull, preparePull, runPull } from '../transfers/pull-model.ts'

type PullOptions = LimitOptions & PeerOptions & { output?: string; dryRun?: boolean }

export function pullCommand(open: OpenContext): Command {
  const command = new Command('pull')
    .description('download a model and print its path')
    .argument(
      '<model[:quant]>',
      'model name, optionally with a quantization (default: the best fit for this machine)',
    )
    .option('-o, --output <path>', 'destination file or folder')
    .option('--dry-run', 'print what would be downloaded, and stop')
  return addPeerOptions(addLimitOptions(command)).action(
    async (reference: string, options: PullOptions) => {
      const context = await open({ isTransfer: true })
      const { printer } = context
      const pull = await preparePull(context, reference, options)
      if (options.dryRun) return await reportPlan(printer, pull)

      const pulled = await runPull(context, pull, options)
      if (options.peers !== false && isShared(context, pull))
        printer.note('  Shared with peers while shoal serve is running.')
      await printer.answer(toDocument(pull, pulled), () => firstPath(pull))
    },
  )
}

const isShared = ({ config, places }: Context, pull: PreparedPull) =>
  readSaved('peers', config) !== 'off' &&
  pull.isPublic &&
  firstPath(pull).startsWith(places.models + sep)

/** The path of the first part is enough: llama.cpp finds the other parts in the same folder. */
const firstPath = ({ parts }: PreparedPull) => parts[0]?.path ?? ''

async function reportPlan(printer: Printer, pull: PreparedPull) {
  const { modelName, label, parts } = pull
  const path = firstPath(pull)
  const bytes = parts.reduce((sum, { file }) => sum + file.file_size_bytes, 0)
  const size = formatBytes(bytes)
  printer.note(`  Would download ${size} in ${plural(parts.length, 'file')} to ${dirname(path)}.`)
  const document = {
    model: modelName,
    quantization: label,
    path,
    paths: parts.map((part) => part.path),
    file_size_bytes: bytes,
    dry_run: true,
  }
  await printer.answer(document, () => path)
}

function toDocument(pull: PreparedPull, pulled: readonly PulledFile[]) {
  const { modelName, label } = pull
  const total = (count: (file: PulledFile) => number) =>
    pulled.reduce((sum, file) => sum + count(file), 0)
  return {
    model: modelName,
    quantization: label,
    path: firstPath(pull),
    paths: pulled.map(({ path }) => path),
    file_size_bytes: total((file) => file.fileSizeBytes),
    sha256_hashes: pulled.map(({ sha256_hash }) => sha256_hash),
    resumed_bytes: total((file) => file.resumedBytes),
    downloaded_bytes: total((file) => file.downloadedBytes),
    wasted_bytes: total((file) => file.wastedBytes),
    sources: pulled.flatMap(({ sources }) =>
      sources.map(({ name, bytes, isPeer }) => ({ name, bytes, is_peer: isPeer })),
    ),
    dropped_chunks: pulled.flatMap(({ droppedChunks }) => droppedChunks),
    already_there: pulled.every(({ alreadyThere }) => alreadyThere),
    reused_from: pulled.flatMap(({ reusedFrom }) => reusedFrom ?? []),
  }
}
