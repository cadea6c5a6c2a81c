/** Pulls a model for `pull`, `run` and `up`: resolves the reference, and downloads and verifies the files. */
import { dirname } from 'node:path'
import { hostOf } from '@shoal/core/references'
import type { ModelFile } from '@shoal/protocol/client'
import type { PulledFile } from '@shoal/transfer'
import type { Context } from '../context.ts'
import { type FoundModel, getModelWithFiles } from '../models/find-model.ts'
import { localPaths } from '../models/local-path.ts'
import { pickFile } from '../models/pick-file.ts'
import type { Printer } from '../terminal/printer.ts'
import { shortHash } from '../terminal/terminal-text.ts'
import { plural } from '../terminal/units.ts'
import type { LimitOptions } from './limits.ts'
import type { PeerOptions } from './peer-options.ts'
import { pullFiles } from './pull-files.ts'
import { computeShares } from './source-shares.ts'

type Part = { file: ModelFile; path: string }

export type PreparedPull = Awaited<ReturnType<typeof preparePull>>

/** Chooses the files and their paths. Prints the choice, because it may depend on this machine. */
export async function preparePull(
  context: Context,
  reference: string,
  { output, dryRun: isDryRun }: { output?: string; dryRun?: boolean } = {},
) {
  const { printer, environment } = context
  const found = await getModelWithFiles(context, reference)
  const { choice, reason } = pickFile(found, environment.memoryBytes)
  const modelName = found.model.name
  const paths = await localPaths({
    findFolder: () => placeModel(context, found, isDryRun === true),
    modelName,
    filenames: choice.files.map(({ filename }) => filename),
    ...(output !== undefined && { output }),
  })
  const { label } = choice
  printer.note(`${printer.err.bold(modelName)}:${label}${reason ? `  ${reason}` : ''}`)
  return {
    registry: found.registry,
    modelName,
    label,
    title: `${modelName}:${label}`,
    isPublic: found.model.is_public,
    modelsDirectory: output === undefined ? context.places.models : undefined,
    parts: choice.files.map((file, index): Part => ({ file, path: paths[index] ?? '' })),
  }
}

/** Returns the model's folder: `<name>`, or `<host>/<name>` if another local model has the same name. */
async function placeModel(
  { places, printer }: Context,
  { model, registry }: FoundModel,
  isDryRun: boolean,
): Promise<string> {
  const { claimFolder, findFolder } = await import('@shoal/transfer')
  const find = isDryRun ? findFolder : claimFolder
  const host = hostOf(registry.address)
  const folder = await find({
    modelsDirectory: places.models,
    name: model.name,
    host,
    owner: { source: registry.address, model: model.id },
  })
  if (dirname(folder) !== places.models) {
    const name = `${host}/${model.name}`
    printer.note(
      `  Another model on this machine is named ${model.name}, so this one is named ${name}.`,
    )
  }
  return folder
}

export async function runPull(
  context: Context,
  options: PreparedPull,
  limits: LimitOptions & PeerOptions = {},
): Promise<PulledFile[]> {
  const pulled = await pullFiles(context, { ...options, limits })
  reportOutcome(context.printer, pulled)
  return pulled
}

function reportOutcome(printer: Printer, pulled: readonly PulledFile[]) {
  const [first] = pulled
  const link = pulled.find(({ target }) => target !== undefined)
  if (link) {
    printer.success(`Already on this machine, as a link to ${link.target}.`)
    printer.note('  To keep the model if that file is deleted, import it again with --copy.')
  } else if (pulled.every(({ alreadyThere }) => alreadyThere))
    printer.success('Already downloaded.')
  else if (pulled.every(({ alreadyThere, reusedFrom }) => alreadyThere || reusedFrom)) {
    printer.success('Already on this machine under another name, so nothing was downloaded.')
  } else if (pulled.length > 1) printer.success(`Verified SHA-256 of ${pulled.length} files`)
  else if (first) printer.success(`Verified SHA-256 ${shortHash(first.sha256_hash)}`)
  const shares = computeShares(pulled.flatMap(({ sources }) => sources))
  if (shares) printer.note(`  ${shares.percent} came from ${shares.peers}.`)
  for (const { source, count } of pulled.flatMap(({ droppedChunks }) => droppedChunks)) {
    const them = count === 1 ? 'it' : 'them'
    printer.note(
      `  Dropped ${plural(count, 'bad chunk')} from ${source} and downloaded ${them} again.`,
    )
  }
}
