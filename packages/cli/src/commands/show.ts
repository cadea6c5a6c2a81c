import { join } from 'node:path'
import { type FileChoice, findBestFit, memoryForModels, runnable } from '@shoal/model-file/choices'
import type { ModelFile, ModelRecord } from '@shoal/protocol/client'
import { formatPath, pages } from '@shoal/protocol/pages'
import type { Preset } from '@shoal/transfer'
import { Command } from 'commander'
import type { OpenContext } from '../context.ts'
import { type FoundModel, getModelWithFiles } from '../models/find-model.ts'
import { listPreset } from '../models/list-preset.ts'
import { resolveAlias } from '../models/local-models.ts'
import type { Colors } from '../terminal/colors.ts'
import { type Column, table } from '../terminal/table.ts'
import { toTerminalLine } from '../terminal/terminal-text.ts'
import {
  formatAge,
  formatBytes,
  formatContext,
  formatCount,
  formatMachine,
  formatMemory,
  plural,
} from '../terminal/units.ts'

export function showCommand(open: OpenContext): Command {
  return new Command('show')
    .description("show a model's details, and which of its files fit in this machine's memory")
    .argument('<model>', 'model name')
    .option('--card', 'print only the model card, in Markdown')
    .action(async (reference: string, { card }: { card?: boolean }) => {
      const context = await open()
      const { printer, environment, places } = context
      const { readPreset } = await import('@shoal/transfer')
      const found = await getModelWithFiles(context, await resolveAlias(context, reference))
      const { model, choices } = found
      const preset = await readPreset(join(places.models, model.name))
      const document = { ...model, files: choices.flatMap(({ files }) => files), preset }
      await printer.answer(document, () =>
        card
          ? (model.readme ?? '').split('\n')
          : page(found, { memoryBytes: environment.memoryBytes, preset, colors: printer.out }),
      )
    })
}

type View = { memoryBytes: number; preset: Preset; colors: Colors }

async function page(
  { model, choices, registry }: FoundModel,
  { memoryBytes, preset, colors }: View,
) {
  const settings = listPreset(preset)
  const description = toTerminalLine(model.description ?? '')
  const best = findBestFit(runnable(choices), memoryForModels(memoryBytes))
  return [
    `${colors.bold(model.name)}  ${model.display_name}`,
    ...(description ? [`  ${description}`] : []),
    `  ${specification(model).join(' · ')}`,
    `  ${plural(model.downloads, 'download')} · ${plural(model.likes, 'like')} · by ${model.owner} · ${formatAge(model.created_at)}`,
    ...(model.tags.length > 0 ? [`  ${model.tags.join(', ')}`] : []),
    `  ${registry.address}${formatPath(pages.model, { name: model.name })}`,
    '',
    ...(choices.length === 0
      ? ['No files are ready.']
      : await table(columnsFor(best, memoryBytes, colors), choices, { paintTitle: colors.dim })),
    ...(settings.length > 0 ? ['', 'Settings on this machine:', ...settings] : []),
  ]
}

function specification(model: ModelRecord): string[] {
  return [
    ...(model.parameter_count === null ? [] : [`${formatCount(model.parameter_count)} parameters`]),
    ...(model.architecture === null ? [] : [model.architecture]),
    ...(model.context_length === null ? [] : [`${formatContext(model.context_length)} context`]),
    model.license === null ? 'no license specified' : model.license,
    ...(model.is_public ? [] : ['private']),
  ]
}

type Choice = FileChoice<ModelFile>

function columnsFor(
  best: Choice | undefined,
  memoryBytes: number,
  colors: Colors,
): Column<Choice>[] {
  const machine = formatMachine(memoryBytes)
  const verdict = (choice: Choice) => {
    if (choice.isCompanion) return 'used with a model'
    if (choice === best) return `best fit for ${machine}`
    return choice.memoryBytes <= memoryForModels(memoryBytes)
      ? 'fits'
      : 'too large for this machine'
  }
  return [
    { title: 'FILE', text: ({ label }) => label },
    { title: 'SIZE', text: ({ sizeBytes }) => formatBytes(sizeBytes), align: 'right' },
    {
      title: 'RUNS IN',
      text: (choice) => (choice.isCompanion ? '–' : formatMemory(choice.memoryBytes)),
      align: 'right',
    },
    { title: 'PARTS', text: ({ parts }) => String(parts), align: 'right' },
    { title: 'PEERS', text: ({ files }) => String(fewestSeeders(files)), align: 'right' },
    {
      title: 'THIS MACHINE',
      text: verdict,
      paint: (text, choice) => (choice === best ? colors.roe(text) : colors.dim(text)),
    },
  ]
}

const fewestSeeders = (files: readonly ModelFile[]) =>
  Math.min(...files.map(({ seeders }) => seeders))
