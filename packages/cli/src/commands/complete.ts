import { formatHelp } from '@shoal/core/settings'
import { ApiError, NetworkError } from '@shoal/protocol/client'
import { DaemonError, DaemonGoneError } from '@shoal/protocol/inference-client'
import { Command } from 'commander'
import { type Candidate, candidatesFor } from '../completion/candidates.ts'
import { type KnownModel, keepKnownModels, readKnownModels } from '../completion/known-models.ts'
import type { Context, OpenContext } from '../context.ts'
import { findDaemonClient } from '../daemon/find-daemon.ts'
import { formatLoadedTitle } from '../daemon/loaded-title.ts'
import { formatChoiceName, listKnownChoices } from '../models/local-models.ts'
import { savedSettings } from '../settings/settings.ts'
import { formatBytes } from '../terminal/units.ts'

/** Timeout for requests to the registry. It is short, because the user is waiting after pressing Tab. */
const timeoutMs = 700

/** Called by the completion scripts; hidden from the help. */
export function completeCommand(open: OpenContext, program: Command): Command {
  return new Command('__complete').argument('<line>').action(async (line: string) => {
    const context = await open({ isForShell: true })
    const candidates = await candidatesFor(program, line, {
      localModels: () => localModels(context),
      loadedModels: () => loadedModels(context),
      registryModels: (typed) => registryModels(context, typed),
      settings: () =>
        Object.entries(savedSettings).map(([name, one]) => ({ name, meaning: formatHelp(one) })),
    })
    for (const { name, meaning } of candidates) {
      context.printer.result(meaning ? `${name}\t${meaning}` : name)
    }
  })
}

async function localModels(context: Context): Promise<Candidate[]> {
  const choices = await listKnownChoices(context)
  return choices.map((choice) => ({
    name: formatChoiceName(choice),
    meaning: formatBytes(choice.sizeBytes),
  }))
}

async function loadedModels(context: Context): Promise<Candidate[]> {
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const loaded = await (await findDaemonClient(context, undefined, timeout)).listLoaded(timeout)
    return loaded.map((one) => ({
      name: formatLoadedTitle(one),
      meaning: formatBytes(one.memory_bytes),
    }))
  } catch (error) {
    const isNoAnswer = error instanceof DaemonGoneError || error instanceof DaemonError
    if (!isNoAnswer && !timeout.aborted) throw error
    return []
  }
}

/** Completes model names and, after a colon, the quantizations of a model. */
async function registryModels(context: Context, typed: string): Promise<Candidate[]> {
  const [name = '', quantization] = typed.toLowerCase().split(':')
  const models = (await askRegistry(context, name)) ?? (await modelsSeenBefore(context))
  if (quantization === undefined) {
    return models.map((model) => ({ name: model.name, meaning: model.display_name }))
  }
  return models
    .filter((model) => model.name === name)
    .flatMap((model) => model.quantizations.map((label) => ({ name: `${name}:${label}` })))
}

/**
 * Searches the registry for models. Returns undefined if the registry fails or does not respond in time, because
 * completion cannot show errors.
 */
async function askRegistry(context: Context, name: string): Promise<KnownModel[] | undefined> {
  const { client, address } = await context.openRegistry()
  const filter = { limit: 50, ...(name && { q: name.replace(/[._-]+/g, ' ') }) }
  const timeout = AbortSignal.timeout(timeoutMs)
  const answer = await client.listModels(filter, timeout).catch((error: unknown) => {
    const isNoAnswer = error instanceof NetworkError || error instanceof ApiError
    if (!isNoAnswer && !timeout.aborted) throw error
    return undefined
  })
  if (answer) await keepKnownModels(context.places, address, answer.models)
  return answer?.models
}

/** Returns models from the registry's earlier responses, and local models. */
async function modelsSeenBefore(context: Context): Promise<KnownModel[]> {
  const known = await readKnownModels(context.places, context.registryAddress)
  const local = Map.groupBy(await listKnownChoices(context), ({ modelName }) => modelName)
  const names = new Set(known.map(({ name }) => name))
  const others = [...local].filter(([name]) => !names.has(name))
  return [
    ...known,
    ...others.map(([name, choices]) => ({
      name,
      display_name: 'on this machine',
      quantizations: choices.map(({ label }) => label),
    })),
  ]
}
