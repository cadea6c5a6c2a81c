import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { defaultRegistry } from '@shoal/core/references'
import { registryClient } from '@shoal/protocol/client'
import type { RunningRegistry } from '@shoal/registry'
import type { Printer } from '../terminal/printer.ts'
import { version } from '../version.ts'
import type { Inference } from './inference.ts'

type Parts = { registry: RunningRegistry; logFile: string; inference: Inference | undefined }

/** In a clone, a script in the root folder runs the CLI. A release is installed as `shoal`. */
const isClone = existsSync(join(import.meta.dirname, '../../../../shoal'))
const program = isClone ? './shoal' : 'shoal'

/** Prints addresses, files and next steps when `shoal up` has started. */
export async function welcome(printer: Printer, { registry, logFile, inference }: Parts) {
  const { url, dataDirectory, setupCode } = registry
  const client = registryClient({ baseUrl: url, token: await registry.systemToken() })
  const { username: owner } = await client.getMe()
  const { models } = await client.listModels({ owner, sort: 'created_at', order: 'asc' })
  const document = {
    version,
    url,
    data_directory: dataDirectory,
    log_file: logFile,
    setup_code: setupCode ?? null,
    demo_models: models.map(({ name, quantizations }) => ({ name, quantizations })),
    inference: inference ? { url: inference.url, model: inference.model ?? null } : null,
  }
  const demo = models.map(({ name, quantizations }) =>
    quantizations.length > 1 ? `${name} (${quantizations.join(', ')})` : name,
  )
  const [first = 'shoal-tiny'] = models.map(({ name }) => name)
  const shoal = url === defaultRegistry ? program : `${program} --registry ${url}`
  const { bold } = printer.out
  await printer.answer(document, () => [
    bold(`shoal ${version}`),
    `  Models     ${url}`,
    ...(inference ? [`  Chat       ${inference.url}   ${formatStatus(inference)}`] : []),
    `  APIs       ${[`${url}/docs`, ...(inference ? [`${inference.url}/v1`] : [])].join(', ')}`,
    `  Data       ${shortPath(dataDirectory)}`,
    `  Log        ${shortPath(logFile)}`,
    ...(demo.length > 0 ? [`  Demo       ${demo.join(', ')}`] : []),
    ...(setupCode ? [`  Setup code ${setupCode}   needed for the first account`] : []),
    '',
    'Next, in another terminal:',
    ...(inference?.model ? [`  ${shoal} run ${inference.model} "Hello"`] : []),
    `  ${shoal} search`,
    ...(demo.length > 0 ? [`  ${shoal} pull ${first}`] : []),
    `  ${shoal} register`,
    '',
    'Press Ctrl-C to stop.',
  ])
}

const formatStatus = ({ model }: Inference) =>
  model ? `${model} is loaded` : 'loads models on demand'

/** Makes a path inside the current folder relative to that folder: `./data`. */
function shortPath(path: string): string {
  const fromHere = relative(process.cwd(), path)
  return fromHere.startsWith('..') ? path : `./${fromHere}`
}
