import { dirname } from 'node:path'
import type { ModelFile } from '@shoal/protocol/client'
import type { PulledFile } from '@shoal/transfer'
import { Command } from 'commander'
import type { Context, OpenContext } from '../context.ts'
import { getModelWithFiles } from '../models/find-model.ts'
import { localPaths } from '../models/local-path.ts'
import { pickFile } from '../models/pick-file.ts'
import { shortHash } from '../terminal/failure-of.ts'
import type { Printer } from '../terminal/printer.ts'
import { formatBytes, plural } from '../terminal/units.ts'
import { addLimitOptions, type LimitOptions } from '../transfers/limits.ts'
import { pullFiles } from '../transfers/pull-files.ts'

type PullOptions = LimitOptions & { output?: string; dryRun?: boolean }

export function pullCommand(open: OpenContext): Command {
  const command = new Command('pull')
    .description('download a model; its path goes to stdout')
    .argument('<model[:quant]>', 'its name; without a quantization what fits this machine best')
    .option('-o, --output <path>', 'where to put it: a file or a folder')
    .option('--dry-run', 'say what would be pulled, and pull nothing')
  return addLimitOptions(command).action(async (reference: string, options: PullOptions) => {
    const context = await open()
    const { printer } = context
    const order = await orderOf(context, reference, options)
    const { modelName, label, reason, parts } = order
    printer.note(`${printer.err.bold(modelName)}:${label}${reason ? `  ${reason}` : ''}`)
    if (options.dryRun) return await tellPlan(printer, order)

    const pulled = await pullFiles(context, { ...order, limits: options })
    tellOutcome(printer, pulled)
    await printer.answer(documentOf(order, pulled), () => firstPath(parts))
  })
}

type Part = { file: ModelFile; path: string }

async function orderOf(context: Context, reference: string, { output }: PullOptions) {
  const { places, surroundings } = context
  const found = await getModelWithFiles(context, reference)
  const { choice, reason } = pickFile(found, surroundings.memoryBytes)
  const modelName = found.model.name
  const paths = await localPaths({
    modelsDirectory: places.models,
    modelName,
    filenames: choice.files.map(({ filename }) => filename),
    ...(output !== undefined && { output }),
  })
  return {
    registry: found.registry,
    modelName,
    label: choice.label,
    title: `${modelName}:${choice.label}`,
    reason,
    parts: choice.files.map((file, index): Part => ({ file, path: paths[index] ?? '' })),
  }
}

type Order = Awaited<ReturnType<typeof orderOf>>

/** llama.cpp opens the first part and finds the others beside it. */
const firstPath = (parts: readonly Part[]) => parts[0]?.path ?? ''

const sizeOf = (parts: readonly Part[]) =>
  parts.reduce((sum, { file }) => sum + file.file_size_bytes, 0)

async function tellPlan(printer: Printer, { modelName, label, parts }: Order) {
  const path = firstPath(parts)
  const size = formatBytes(sizeOf(parts))
  printer.note(`  Would pull ${size} in ${plural(parts.length, 'file')} to ${dirname(path)}.`)
  const document = {
    model: modelName,
    quantization: label,
    path,
    paths: parts.map((part) => part.path),
    file_size_bytes: sizeOf(parts),
    dry_run: true,
  }
  await printer.answer(document, () => path)
}

function tellOutcome(printer: Printer, pulled: readonly PulledFile[]) {
  const [first] = pulled
  if (pulled.every(({ alreadyThere }) => alreadyThere)) printer.success('Already here.')
  else if (pulled.length > 1) printer.success(`Verified SHA-256 of ${pulled.length} files`)
  else if (first) printer.success(`Verified SHA-256 ${shortHash(first.sha256_hash)}`)
  for (const { source, count } of pulled.flatMap(({ droppedChunks }) => droppedChunks)) {
    const them = count === 1 ? 'it' : 'them'
    printer.note(`  Dropped ${plural(count, 'bad chunk')} from ${source}; fetched ${them} again.`)
  }
}

function documentOf({ modelName, label, parts }: Order, pulled: readonly PulledFile[]) {
  const total = (count: (file: PulledFile) => number) =>
    pulled.reduce((sum, file) => sum + count(file), 0)
  return {
    model: modelName,
    quantization: label,
    path: firstPath(parts),
    paths: pulled.map(({ path }) => path),
    file_size_bytes: total((file) => file.fileSizeBytes),
    sha256_hashes: pulled.map(({ sha256_hash }) => sha256_hash),
    resumed_bytes: total((file) => file.resumedBytes),
    downloaded_bytes: total((file) => file.downloadedBytes),
    dropped_chunks: pulled.flatMap(({ droppedChunks }) => droppedChunks),
    already_there: pulled.every(({ alreadyThere }) => alreadyThere),
  }
}
