import { stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { hasCode } from '@shoal/core/errors'
import { parseReference } from '@shoal/core/references'
import { exists } from '@shoal/files'
import { copyLocalFile, type Preset, writePreset } from '@shoal/transfer'
import { Fault, modelNotFound } from '../errors.ts'
import { hasAlias, type LocalModel, type LocalModels } from './local-models.ts'

/**
 * Makes a model available under a second name. The copy needs no additional disk space if the file system supports hard
 * links.
 */
export async function copyModel(local: LocalModels, source: string, destination: string) {
  const model = await local.find(source)
  if (!model) throw modelNotFound(source)
  await copyFiles(local, model, destination)
}

/**
 * Copies a model's files, unless the destination is the same model. By default, the copy has the settings of the model,
 * but not its aliases.
 */
export async function copyFiles(
  local: LocalModels,
  model: LocalModel,
  destination: string,
  preset?: Preset,
) {
  const name = readNewName(destination, model.quantization)
  const found = await local.find(name)
  const known = found && hasAlias(found, name) ? undefined : found
  const { aliases: _aliases, ...inherited } = model.preset
  if (known && (await isSameFile(known, model))) {
    const isItself = known.path === model.path
    if (preset || !isItself) await writePreset(dirname(known.path), preset ?? inherited)
    return
  }
  if (known) throw inTheWay(destination)
  const folder = join(local.directory, name)
  const files = model.paths.map((path) => ({ path, target: join(folder, basename(path)) }))
  await createModel(folder, files, { preset: preset ?? inherited, destination })
}

type NewModel = { preset: Preset; destination: string }

/** Creates a model with its settings. A model that a crash has left without all its files can be created again. */
export async function createModel(
  folder: string,
  files: readonly { path: string; target: string }[],
  { preset, destination }: NewModel,
) {
  for (const { target } of files) if (await exists(target)) throw inTheWay(destination)
  await writePreset(folder, preset) // before the files, so that the model never exists without its settings
  try {
    for (const { path, target } of files) await copyLocalFile(path, target)
  } catch (error) {
    await writePreset(folder, {})
    throw hasCode(error, 'file_in_the_way') ? inTheWay(destination) : error
  }
}

/**
 * Returns the destination's model name. The only tag allowed is the file's quantization, because tags are not stored.
 */
export function readNewName(destination: string, quantization: string): string {
  const reference = parseReference(destination)
  const tag = reference?.quantization
  const isTagTrue = tag === undefined || tag.toUpperCase() === quantization.toUpperCase()
  if (reference && reference.registry === undefined && isTagTrue) return reference.name
  const message = `'${destination}' is not a valid model name: use 2 to 96 characters (lowercase letters, digits, dots, hyphens or underscores), start and end with a letter or digit, and omit the tag (or use ${quantization})`
  throw new Fault(400, message, { param: 'destination' })
}

async function isSameFile(one: LocalModel, other: LocalModel): Promise<boolean> {
  if (one.sha256 !== undefined && one.sha256 === other.sha256) return true
  const [a, b] = await Promise.all([stat(one.path), stat(other.path)])
  return a.ino === b.ino && a.dev === b.dev
}

export function inTheWay(destination: string): Fault {
  return new Fault(409, `another model is already named '${destination}'`, {
    param: 'destination',
  })
}
