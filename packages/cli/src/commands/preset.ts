import { dirname } from 'node:path'
import { isModelName } from '@shoal/core/references'
import { parseKeepAlive } from '@shoal/core/units'
import type { OllamaOptions } from '@shoal/protocol'
import type { Preset } from '@shoal/transfer'
import { Command, Option } from 'commander'
import type { OpenContext } from '../context.ts'
import { invalidModelName } from '../models/invalid-model-name.ts'
import { listPreset } from '../models/list-preset.ts'
import { getLocalChoices } from '../models/local-models.ts'
import { misuse } from '../terminal/failure.ts'
import { readText } from '../terminal/read-text.ts'
import { repeatable } from '../terminal/repeatable.ts'

type NumberOption = {
  name: keyof OllamaOptions
  min: number
  max: number
  isWhole?: boolean
  description: string
}

const maxInteger = 2 ** 31 - 1
const whole = { isWhole: true, max: maxInteger }

/** The options that are numbers, with the names under which they are saved. */
const numberOptions: Record<string, NumberOption> = {
  contextLength: {
    ...{ ...whole, name: 'num_ctx', min: 64, max: 2 ** 24 },
    description: 'context length in tokens',
  },
  temperature: { name: 'temperature', min: 0, max: 100, description: 'sampling temperature' },
  topP: { name: 'top_p', min: 0, max: 1, description: 'nucleus sampling: total probability' },
  topK: { ...whole, name: 'top_k', min: 0, description: 'number of most likely tokens' },
  minP: { name: 'min_p', min: 0, max: 1, description: 'minimum relative probability' },
  repeatPenalty: { name: 'repeat_penalty', min: 0, max: 100, description: 'repetition penalty' },
  seed: { ...whole, name: 'seed', min: 0, description: 'random seed, for reproducible output' },
  maxTokens: {
    ...{ ...whole, name: 'num_predict', min: 1 },
    description: 'maximum number of tokens to generate',
  },
}

type PresetOptions = {
  system?: string
  template?: string
  keepAlive?: string
  stop?: string[]
  alias?: string[]
  reset?: boolean
} & Record<string, unknown>

const toFlag = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

export function presetCommand(open: OpenContext): Command {
  const command = new Command('preset')
    .description('show or change the settings with which a model on this machine is run')
    .argument('<model>', 'model name')
    .option('--system <text>', 'system prompt of chats that have none; "" removes it')
    .option('--template <file>', 'file with a chat template in Jinja format; "" removes it')
    .option(
      '--keep-alive <time>',
      'how long the model stays loaded while it is idle; "" removes it',
    )
  for (const [key, number] of Object.entries(numberOptions)) {
    const flag = `--${toFlag(key)} <number>`
    const option = new Option(flag, `${number.description}; "" removes it`)
    command.addOption(option.argParser((text) => parseNumber(text, number)))
  }
  return command
    .addOption(repeatable('--stop <text>', 'text that ends an answer; repeatable; "" removes all'))
    .addOption(
      repeatable('--alias <name>', 'further name of the model; repeatable; "" removes all'),
    )
    .option('--reset', 'remove all settings first')
    .action(async (reference: string, options: PresetOptions) => {
      const context = await open()
      const { printer } = context
      const [choice] = await getLocalChoices(context, reference)
      if (!choice) return
      const folder = dirname(choice.files[0].path)
      const { readPreset, writePreset } = await import('@shoal/transfer')
      const before = options.reset ? {} : await readPreset(folder)
      const preset = await change(before, options)
      if (Object.keys(options).length > 0) {
        await writePreset(folder, preset)
        printer.success(`Changed the settings of ${choice.modelName}.`)
      }
      await printer.answer({ model: choice.modelName, ...preset }, () => {
        const lines = listPreset(preset)
        return lines.length > 0 ? lines : [`${choice.modelName} has no settings of its own.`]
      })
    })
}

/** Applies the options. An empty value removes a setting. */
async function change(preset: Preset, options: PresetOptions): Promise<Preset> {
  const { system, template, keepAlive, stop, alias } = options
  if (keepAlive && parseKeepAlive(keepAlive) === undefined) {
    throw misuse(
      `“${keepAlive}” is not a valid keep-alive time. Use a duration such as 5m or 2h, or “forever”.`,
    )
  }
  const aliases = alias && listOf(alias).map((name) => name.toLowerCase())
  const wrong = aliases?.find((name) => !isModelName(name))
  if (wrong !== undefined) throw invalidModelName(wrong)
  const numbers = Object.entries(numberOptions).flatMap(([key, { name }]) =>
    key in options ? [[name, options[key]] as const] : [],
  )
  const parameters = withoutEmpty({
    ...preset.parameters,
    ...Object.fromEntries(numbers),
    ...(stop && { stop: listOf(stop) }),
  })
  return withoutEmpty({
    ...preset,
    ...(system !== undefined && { system }),
    ...(template !== undefined && { template: template && (await readText(template)) }),
    ...(keepAlive !== undefined && { keep_alive: keepAlive }),
    ...(aliases && { aliases }),
    parameters,
  })
}

const listOf = (texts: string[]) => texts.filter((text) => text !== '')

/** Leaves out members that are empty. */
function withoutEmpty<T extends object>(members: T): T {
  const isEmpty = (value: unknown) =>
    value === undefined ||
    value === '' ||
    (typeof value === 'object' && Object.keys(value ?? {}).length === 0)
  return Object.fromEntries(Object.entries(members).filter(([, value]) => !isEmpty(value))) as T
}

/** Parses a number; an empty text stays empty. */
function parseNumber(text: string, { min, max, isWhole }: NumberOption): number | '' {
  if (text === '') return ''
  const value = Number(text)
  const isValid = /^\d+(\.\d+)?$/.test(text) && value >= min && value <= max
  if (isValid && (!isWhole || Number.isInteger(value))) return value
  throw misuse(`“${text}” is not a ${isWhole ? 'whole ' : ''}number from ${min} to ${max}.`)
}
