/** The models on this machine, as choices: a choice is one file, or all parts of a split file. */

import { dirname, join } from 'node:path'
import { hasCode } from '@shoal/core/errors'
import { hostOf, isFromHost, shellWord } from '@shoal/core/references'
import type { GgufRole } from '@shoal/model-file'
import {
  ambiguousChoice,
  type FileChoice,
  fileChoices,
  findBestFit,
  findChoices,
  memoryForModels,
  missingParts,
  runnable,
} from '@shoal/model-file/choices'
import type { LocalFile, Unreadable } from '@shoal/transfer'
import type { Context } from '../context.ts'
import { Failure } from '../terminal/failure.ts'
import { plural } from '../terminal/units.ts'
import { whileWaiting } from '../terminal/waiting.ts'
import { type Reference, readReference } from './reference.ts'

type LocalEntry = LocalFile & { quantization: string | null }

export type LocalChoice = FileChoice<LocalEntry> & { modelName: string }

/**
 * Searches the read-only model folders, and returns all local choices, including incomplete ones, grouped by model and
 * sorted by size.
 */
export async function listLocalChoices(
  { places, modelFolders: folders, printer }: Context,
  /** Called for each file that is skipped because it cannot be read. */
  onUnreadable?: (unreadable: Unreadable) => void,
): Promise<LocalChoice[]> {
  const { listModelFiles } = await import('@shoal/transfer')
  const search = () => listModelFiles({ modelsDirectory: places.models, folders }, onUnreadable)
  if (folders.length === 0) return await toChoices(await search())
  return await toChoices(await whileWaiting(printer, 'Searching the model folders', search))
}

/** Like `listLocalChoices`, but does not search the read-only model folders, because a search may take a long time. */
export async function listKnownChoices({ places }: Context): Promise<LocalChoice[]> {
  const { listLocalFiles } = await import('@shoal/transfer')
  return await toChoices(await listLocalFiles(places.models))
}

async function toChoices(files: readonly LocalFile[]): Promise<LocalChoice[]> {
  const { findQuantizationInFilename } = await import('@shoal/model-file')
  const entries = files.map((file): LocalEntry => {
    const known = file.imported?.quantization ?? file.record?.quantization
    const quantization = known ?? findQuantizationInFilename(file.filename)
    return { ...file, quantization: quantization ?? null }
  })
  return [...Map.groupBy(entries, (entry) => entry.modelName)].flatMap(([modelName, members]) =>
    fileChoices(members, (file) => file.fileSizeBytes ?? file.bytesHere).map((choice) => ({
      ...choice,
      modelName,
    })),
  )
}

export const isComplete = (choice: LocalChoice) =>
  missingParts(choice).length === 0 && choice.files.every((file) => file.isFinished)

export const formatChoiceName = ({ modelName, label }: LocalChoice) => `${modelName}:${label}`

/**
 * Returns the local choices that a reference matches: one if it has a quantization or `:latest`, otherwise all choices
 * of the model. Throws an `ambiguous_choice` if several choices share the quantization.
 */
export async function getLocalChoices(context: Context, text: string): Promise<LocalChoice[]> {
  if (readReference(text).isLatest) return [await getLocalChoice(context, text)]
  const found = await getNamedChoices(context, text)
  const { quantization } = readReference(text)
  if (quantization === undefined || found.length === 1) return found
  throw ambiguousChoice(
    quantization,
    found.map(({ label }) => label),
  )
}

async function getNamedChoices(context: Context, text: string): Promise<LocalChoice[]> {
  const { name, quantization, registry } = readReference(text)
  const unreadable: Unreadable[] = []
  const all = await listLocalChoices(context, (one) => unreadable.push(one))
  const ofModel = chooseByHost(all, { name, registry })
  if (quantization === undefined && ofModel.length > 0) return ofModel
  const aliased = ofModel.length > 0 ? [] : await chooseByAlias(all, readReference(text))
  if (aliased.length > 0) return aliased
  const found = quantization === undefined ? [] : findChoices(ofModel, quantization)
  if (found.length > 0) return found
  const folder = join(context.places.models, name)
  const hidden = unreadable.find(({ path }) => path === folder || dirname(path) === folder)
  if (hidden) throw cannotBeRead(hidden)
  const unsearched = unreadable.filter(({ path }) => context.modelFolders.includes(path))
  throw notHere(text, ofModel, unsearched)
}

/**
 * Returns the choices of a model. If the reference contains a host, returns the choices of `<host>/<name>` or, if there
 * are none, those in the folder `<name>` that may have been pulled from this host.
 */
function chooseByHost(
  all: readonly LocalChoice[],
  { name, registry }: Pick<Reference, 'name' | 'registry'>,
): LocalChoice[] {
  const named = (wanted: string) =>
    all.filter(({ modelName }) => modelName.toLowerCase() === wanted)
  if (registry === undefined) return named(name)
  const nested = named(`${hostOf(registry)}/${name}`)
  if (nested.length > 0) return nested
  return named(name).filter(({ files: [{ record }] }) => isFromHost(record?.registry, registry))
}

/**
 * Returns the choices of the model that has this alias (`shoal preset --alias`). As in the daemon, an alias has neither a
 * host nor a quantization.
 */
async function chooseByAlias(
  all: readonly LocalChoice[],
  { name, quantization, registry }: Reference,
): Promise<LocalChoice[]> {
  if (quantization !== undefined || registry !== undefined) return []
  const { readPreset } = await import('@shoal/transfer')
  for (const [folder, choices] of Map.groupBy(all, ({ files: [{ path }] }) => dirname(path))) {
    if ((await readPreset(folder)).aliases?.includes(name)) return choices
  }
  return []
}

/** Returns the name of the model on this machine that has this alias, unless the alias is also a name; else, `text`. */
export async function resolveAlias(context: Context, text: string): Promise<string> {
  const reference = readReference(text)
  const all = await listKnownChoices(context)
  if (chooseByHost(all, reference).length > 0) return text
  const [choice] = await chooseByAlias(all, reference)
  return choice?.modelName ?? text
}

/** Returns the choice to run: the one that the reference specifies, or else the best fit among the complete choices. */
export async function getLocalChoice(context: Context, text: string): Promise<LocalChoice> {
  const choices = await getNamedChoices(context, text)
  const { quantization } = readReference(text)
  const isNamed = quantization !== undefined && choices.length === 1
  const complete = (isNamed ? choices : runnable(choices)).filter(isComplete)
  const weighed = complete.length > 1 ? await Promise.all(complete.map(asItsHeaderSays)) : complete
  const chosen =
    findBestFit(weighed, memoryForModels(context.environment.memoryBytes)) ?? complete[0]
  if (chosen && quantization !== undefined && choices.length > 1) {
    const among = `${plural(choices.length, 'file')} with quantization ${quantization}`
    context.printer.note(`  ${formatChoiceName(chosen)} is the default among the ${among}.`)
  }
  if (chosen) return chosen
  const missing = choices.flatMap(({ files }) => files.filter(({ isMissing }) => isMissing))[0]
  if (missing) {
    throw new Failure('not_found', `${missing.target ?? missing.path} no longer exists.`, {
      hint: `${text} was imported by reference. To forget it: shoal rm ${shellWord(text)}`,
    })
  }
  throw new Failure('not_found', `${text} is only partly downloaded.`, {
    hint: `To resume: shoal pull ${shellWord(text)}`,
  })
}

/**
 * Returns what the header of a complete file says that the file is: `model`, or another role. Returns undefined if the
 * file is incomplete, missing or not a valid GGUF file.
 */
export async function findRole(choice: LocalChoice): Promise<GgufRole | undefined> {
  const [{ path, filename, isMissing }] = choice.files
  if (isMissing || !isComplete(choice)) return undefined
  const { extractFacts, readGgufFile } = await import('@shoal/model-file')
  try {
    const { role } = extractFacts(await readGgufFile(path), filename)
    return role === 'shard' ? 'model' : role
  } catch (error) {
    if (hasCode(error, 'invalid_gguf')) return undefined
    throw error
  }
}

/**
 * Adds the required memory, computed from the file header, to a choice. Returns it unchanged if the header is invalid.
 */
async function asItsHeaderSays(choice: LocalChoice): Promise<LocalChoice> {
  const { extractFacts, memoryToRun, readGgufFile } = await import('@shoal/model-file')
  const [{ path, filename }] = choice.files
  try {
    const facts = extractFacts(await readGgufFile(path), filename)
    return { ...choice, memoryBytes: memoryToRun(facts, choice.sizeBytes) }
  } catch (error) {
    if (hasCode(error, 'invalid_gguf')) return choice
    throw error
  }
}

function cannotBeRead({ path, why }: Unreadable): Failure {
  return new Failure('failed', `${path} cannot be read: ${why}.`)
}

function notHere(
  text: string,
  others: readonly LocalChoice[],
  unsearched: readonly Unreadable[],
): Failure {
  const here = others.map(formatChoiceName).join(', ')
  return new Failure('not_found', `${text} is not on this machine.`, {
    hint: [
      ...(here ? [`Available: ${here}.`] : []),
      ...unsearched.map(({ path, why }) => `The model folder ${path} was not searched: ${why}.`),
      `To download it: shoal pull ${shellWord(text)}`,
    ].join('\n'),
  })
}
