import { isModelName } from '@shoal/core/references'
import { ApiError, type ModelRecord } from '@shoal/protocol/client'
import { formatPath, pages } from '@shoal/protocol/pages'
import { Command } from 'commander'
import type { OpenContext, Registry } from '../context.ts'
import { defaultModelName } from '../models/default-name.ts'
import { invalidModelName } from '../models/invalid-model-name.ts'
import { Failure } from '../terminal/failure.ts'
import type { Printer } from '../terminal/printer.ts'
import { readText } from '../terminal/read-text.ts'
import { repeatable } from '../terminal/repeatable.ts'
import { formatBytes, plural, shortList } from '../terminal/units.ts'
import { dropNewModel } from '../transfers/drop-new-model.ts'
import { addLimitOptions, type LimitOptions, readLimits } from '../transfers/limits.ts'
import { pushFiles } from '../transfers/push-files.ts'
import {
  describeModelFiles,
  readModelFiles,
  refuseMissingParts,
} from '../transfers/read-model-files.ts'

type PushOptions = LimitOptions & {
  name?: string
  displayName?: string
  description?: string
  license?: string
  tag?: string[]
  card?: string
  private?: boolean
}

export function pushCommand(open: OpenContext): Command {
  const command = new Command('push')
    .description("publish GGUF files and print the model's URL")
    .argument('<files...>', 'GGUF files of one model')
    .option('--name <name>', 'model name (default: derived from the filenames)')
    .option('--display-name <text>', 'title of the model (default: the model name)')
    .option('--description <text>', 'description of the model, in one sentence')
    .option('--license <license>', 'license of the model, such as apache-2.0')
    .addOption(repeatable('--tag <tag>', 'tag that a search can filter by; repeatable'))
    .option('--card <file>', 'file with the model card, in Markdown')
    .option('--private', 'make the model visible only to its owner, members and administrators')
  return addLimitOptions(command).action(async (paths: string[], options: PushOptions) => {
    const context = await open({ isTransfer: true })
    const { printer, asker, openRegistry, takeStopSignal } = context
    const files = await readModelFiles(paths)
    const name = options.name === undefined ? defaultModelName(files) : checkedName(options.name)
    const details = await readDetails(options)
    const size = formatBytes(files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0))
    printer.note(`  ${plural(files.length, 'file')}, ${size}   ${describeModelFiles(files)}`)

    const registry = await openRegistry()
    const existing = await findModel(registry, name)
    if (existing?.isOfAnother) {
      const { owner } = existing.model
      const question = `${name} on ${registry.label} belongs to ${owner}. Publish to it as an administrator?`
      await asker.confirm(question)
    }
    const readyFiles = existing?.readyFiles ?? []
    refuseMissingParts(files, readyFiles)

    const signal = takeStopSignal()
    const { model, isNew } = await saveModel(registry, {
      name,
      details,
      existing: existing?.model,
    })
    const pushOptions = { client: registry.client, modelName: model.name, files }
    const pushed = await pushFiles(printer, {
      ...pushOptions,
      network: await context.networkSettings(),
      ...readLimits(options, context, 'push'),
      signal,
    }).catch(async (error: unknown) => {
      if (isNew) await dropNewModel(printer, pushOptions)
      throw error
    })
    const address = registry.address + formatPath(pages.model, { name: model.name })
    const published = pushed.map((file) => ({
      ...file,
      already_there: readyFiles.some(({ id }) => id === file.id),
    }))
    reportOutcome(printer, model.name, published)
    const document = {
      model: model.name,
      url: address,
      files: published,
      already_there: published.every((file) => file.already_there),
    }
    await printer.answer(document, () => address)
  })
}

type Published = { filename: string; already_there: boolean }

function reportOutcome(printer: Printer, modelName: string, files: readonly Published[]) {
  const there = files.filter((file) => file.already_there)
  const fresh = files.length - there.length
  if (fresh === 0) return printer.success(`All files of ${modelName} are already published.`)
  printer.success(`Published ${plural(fresh, 'file')} of ${modelName}.`)
  if (there.length === 0) return
  printer.note(`  Already published: ${shortList(there.map(({ filename }) => filename))}.`)
}

function checkedName(text: string): string {
  if (isModelName(text)) return text
  throw invalidModelName(text)
}

async function readDetails(options: PushOptions) {
  const { displayName, description, license, tag, card } = options
  const readme = card && (await readText(card))
  return {
    ...(displayName && { display_name: displayName }),
    ...(description && { description }),
    ...(license && { license }),
    ...(tag && { tags: tag }),
    ...(readme && { readme }),
    ...(options.private && { is_public: false }),
  }
}

/**
 * Returns the model and its ready files, or undefined if the model does not exist or the name is a former name of
 * another user's model. Throws if the user may not publish to the model, or if the user's own model was renamed.
 */
async function findModel({ client, label }: Registry, name: string) {
  const me = await client.getMe()
  const model = await client.getModel(name).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return undefined // version 0.1 sends no code
    throw error
  })
  if (!model) return undefined
  const isOthers = model.owner !== me.username
  if (model.name !== name) {
    if (isOthers) return undefined // a former name of another user's model can be reused
    throw new Failure('not_found', `${name} on ${label} was renamed to ${model.name}.`, {
      hint: `To publish to it, pass --name ${model.name}.`,
    })
  }
  if (isOthers && !me.is_admin && !model.can_write) throw notYours(name, label)
  const isOfAnother = isOthers && me.is_admin
  return { model, isOfAnother, readyFiles: await client.listFiles(name) }
}

type Options = {
  name: string
  details: Awaited<ReturnType<typeof readDetails>>
  existing: ModelRecord | undefined
}

/** Creates or updates the model, and returns it. `isNew`: whether it was created. */
async function saveModel(
  registry: Registry,
  { name, details, existing }: Options,
): Promise<{ model: ModelRecord; isNew: boolean }> {
  const { client, label } = registry
  if (existing) {
    const hasDetails = Object.keys(details).length > 0
    const changed = hasDetails ? await client.updateModel(name, details) : undefined
    return { model: changed ?? existing, isNew: false }
  }
  try {
    return { model: await client.createModel({ name, ...details }), isNew: true }
  } catch (error) {
    if (!(error instanceof ApiError) || error.problem.code !== 'name_taken') throw error
    // Either the user has just created the model on another machine, or the name belongs to a private model of another
    // account, which the user cannot see.
    const found = await findModel(registry, name)
    if (!found || found.isOfAnother) throw notYours(name, label, error)
    return saveModel(registry, { name, details, existing: found.model })
  }
}

const notYours = (name: string, label: string, cause?: unknown) =>
  new Failure('not_permitted', `${name} on ${label} belongs to another account.`, {
    hint: 'Choose another name with --name.',
    cause,
  })
