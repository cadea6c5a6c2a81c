/** The response of `/api/show`. */
import { basename } from 'node:path'
import { extractFacts, type JsonValue } from '@shoal/model-file'
import type { LocalModel } from '../models/local-models.ts'
import { readHeader } from '../models/read-header.ts'
import { listCapabilities } from './capabilities.ts'
import { formatOllamaName, toDetails } from './model-entry.ts'

/** The maximum length of a list. A longer list, such as a vocabulary, is returned only with `verbose`. */
const maxItems = 16

export function shownModel(model: LocalModel, contextLength: number) {
  const { facts } = model
  const { system } = model.preset
  const parameters = listParameters(model, contextLength)
    .map(([name, value]) => `${name.padEnd(30)} ${value}`)
    .join('\n')
  const template = facts.chat_template ?? ''
  return {
    ...(facts.license !== null && { license: facts.license }),
    modelfile: formatModelfile(model, contextLength),
    parameters,
    template,
    ...(system !== undefined && { system }),
    details: toDetails(model),
    model_info: shortened({ ...facts.metadata }, model),
    capabilities: listCapabilities(model),
    modified_at: model.modifiedAt.toISOString(),
  }
}

/**
 * The response of `/api/show` with `verbose`, which contains long lists and the tensors. The file is read again for
 * this response, because a vocabulary is too large to keep in memory.
 */
export async function shownInFull(model: LocalModel, contextLength: number) {
  const header = await readHeader(model)
  const { metadata } = extractFacts(header, basename(model.path))
  return {
    ...shownModel(model, contextLength),
    model_info: withCount(metadata, model),
    tensors: header.tensors.map(({ name, type, shape }) => ({ name, type, shape })),
  }
}

type Metadata = Record<string, JsonValue>

function shortened(metadata: Metadata, model: LocalModel): Metadata {
  const isLong = (value: JsonValue) =>
    Array.isArray(value) ? value.length > maxItems : typeof value === 'object' && value !== null
  const entries = Object.entries(withCount(metadata, model))
  return Object.fromEntries(entries.map(([key, value]) => [key, isLong(value) ? null : value]))
}

/**
 * Adds the number of weights under the same key as Ollama does. If the metadata contains this key, its value is kept.
 */
function withCount(metadata: Metadata, { parameterCount }: LocalModel): Metadata {
  return { 'general.parameter_count': parameterCount, ...metadata }
}

/** The parameters with which the model is run, as they are written in a Modelfile. */
function listParameters({ preset }: LocalModel, contextLength: number): [string, string][] {
  const entries = Object.entries({ ...preset.parameters, num_ctx: contextLength })
  return entries.flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, JSON.stringify(one)]),
  )
}

function formatModelfile(model: LocalModel, contextLength: number): string {
  const { preset, facts } = model
  const { chat_template, license } = facts
  const quoted = (text: string) => `"""${text.replaceAll('"""', '\\"\\"\\"')}"""`
  return [
    `# ${formatOllamaName(model)}; the template is in Jinja format, as in the model file`,
    `FROM ${basename(model.path)}`,
    ...(chat_template === null ? [] : [`TEMPLATE ${quoted(chat_template)}`]),
    ...(preset.system === undefined ? [] : [`SYSTEM ${quoted(preset.system)}`]),
    ...listParameters(model, contextLength).map(([name, value]) => `PARAMETER ${name} ${value}`),
    ...(license === null ? [] : [`LICENSE ${quoted(license)}`]),
    '',
  ].join('\n')
}
