/** The settings with which a model on this machine is run. All files of a model share them. */
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { writeWhole } from '@shoal/files'
import type { OllamaOptions } from '@shoal/protocol'
import { shoalDirectory } from './file-paths.ts'
import { readJson } from './read-json.ts'
import { refuseLink } from './refuse-link.ts'

export type Preset = {
  /** Defaults for requests, under the names of Ollama's options. `num_ctx` is the context length in tokens. */
  parameters?: OllamaOptions
  /** The system prompt of chats that have none. */
  system?: string
  /** The chat template, in Jinja format, in place of the one in the file. */
  template?: string
  /** How long the model stays loaded while it is idle, such as `5m` or `forever`. */
  keep_alive?: string
  /** Further names of the model. */
  aliases?: string[]
}

/** The path of the settings of the models in a folder. The name is that of a model file's hidden files. */
export const getPresetPath = (folder: string) => join(folder, shoalDirectory, 'model.preset')

/**
 * Reads the settings of the model in a folder; empty if there are none.
 * @example
 * import { readPreset } from '@shoal/transfer'
 *
 * const { system, parameters } = await readPreset('models/tide')
 */
export const readPreset = async (folder: string): Promise<Preset> =>
  (await readJson(getPresetPath(folder), isPreset)) ?? {}

/**
 * Replaces the settings of the model in a folder. Members that are undefined are left out. Throws `is_link` if the folder
 * is a link.
 * @example
 * import { writePreset } from '@shoal/transfer'
 *
 * await writePreset('models/tide', { system: 'Answer in French.', parameters: { num_ctx: 8192 } })
 */
export async function writePreset(folder: string, preset: Preset): Promise<void> {
  refuseLink(folder)
  const path = getPresetPath(folder)
  refuseLink(dirname(path))
  const text = JSON.stringify(preset, null, 2)
  if (text === '{}') await rm(path, { force: true })
  else await writeWhole(path, `${text}\n`)
}

const textFields = ['system', 'template', 'keep_alive'] as const

function isPreset(value: unknown): value is Preset {
  if (typeof value !== 'object' || value === null) return false
  const preset = value as Preset
  const { parameters = {}, aliases = [] } = preset
  return (
    typeof parameters === 'object' &&
    parameters !== null &&
    Array.isArray(aliases) &&
    textFields.every((name) => ['string', 'undefined'].includes(typeof preset[name]))
  )
}
