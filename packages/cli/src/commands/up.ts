import { join, relative } from 'node:path'
import { registryClient } from '@shoal/protocol/client'
import type { RunningRegistry } from '@shoal/registry'
import { Command } from 'commander'
import { defaultRegistry, type OpenContext } from '../context.ts'
import { demoDirectory } from '../demo/demo-models.ts'
import { publishDemo } from '../demo/publish-demo.ts'
import { tellMisaddressed } from '../server/misaddressed.ts'
import { addServerOptions, flagsOf, type ServerOptions } from '../server/server-options.ts'
import { untilStopped } from '../server/until-stopped.ts'
import { failureOf } from '../terminal/failure-of.ts'
import type { Printer } from '../terminal/printer.ts'
import { version } from '../version.ts'

type UpOptions = ServerOptions & { demo: boolean }

export function upCommand(open: OpenContext): Command {
  const command = new Command('up').description(
    'run a registry with the demo models, to try it out',
  )
  return addServerOptions(command)
    .option('--no-demo', 'without the demo models')
    .action(async (options: UpOptions) => {
      const { printer, surroundings, takeStopSignal } = await open()
      const stopSignal = takeStopSignal()
      const { readRegistryConfig, startRegistry } = await import('@shoal/registry')
      const config = readRegistryConfig(surroundings.env, flagsOf(options))
      const logFile = join(config.dataDirectory, 'registry.log')
      const running = await startRegistry({ ...config, log: { file: logFile } })
      try {
        if (options.demo) await tryToPublishDemo(printer, running, stopSignal)
        if (!stopSignal.aborted) await welcome(printer, running, logFile)
        if (running.isMisaddressed) tellMisaddressed(printer, running.url)
        await untilStopped(stopSignal)
      } finally {
        printer.note('Ending: running requests may finish.')
        await running.close()
      }
    })
}

/** A registry without the demo is of use as well: what goes wrong here is said, and ends nothing. */
async function tryToPublishDemo(printer: Printer, running: RunningRegistry, signal: AbortSignal) {
  const { url, dataDirectory } = running
  const client = registryClient({ baseUrl: url, token: await running.systemToken() })
  try {
    await publishDemo(printer, { client, directory: demoDirectory, dataDirectory, signal })
  } catch (error) {
    if (signal.aborted) return
    const { message } = failureOf(error, { address: url, hasToken: true })
    printer.warn(`The demo models are not all published: ${message}`)
    printer.note('  The next start goes on with it.')
  }
}

async function welcome(printer: Printer, running: RunningRegistry, logFile: string) {
  const { url, dataDirectory, setupCode } = running
  const { models } = await registryClient({
    baseUrl: url,
    token: await running.systemToken(),
  }).listModels({ owner: 'shoal', sort: 'created_at', order: 'asc' })
  const document = {
    version,
    url,
    data_directory: dataDirectory,
    log_file: logFile,
    setup_code: setupCode ?? null,
    demo_models: models.map(({ name, quantizations }) => ({ name, quantizations })),
  }
  const demo = models.map(({ name, quantizations }) =>
    quantizations.length > 1 ? `${name} (${quantizations.join(', ')})` : name,
  )
  const [first = 'shoal-tiny'] = models.map(({ name }) => name)
  const shoal = url === defaultRegistry ? 'npx shoal' : `npx shoal --registry ${url}`
  const { bold } = printer.out
  await printer.answer(document, () => [
    bold(`shoal ${version}`),
    `  API        ${url}/docs`,
    `  Data       ${shortPath(dataDirectory)}`,
    `  Log        ${shortPath(logFile)}`,
    ...(demo.length > 0 ? [`  Demo       ${demo.join(', ')}`] : []),
    ...(setupCode ? [`  Setup code ${setupCode}   the first account needs it`] : []),
    '',
    'Next, in another terminal:',
    `  ${shoal} search`,
    ...(demo.length > 0 ? [`  ${shoal} pull ${first}`] : []),
    `  ${shoal} register`,
    '',
    'Ctrl-C ends it.',
  ])
}

/** As it is seen from here, where that is shorter: `./data`. */
function shortPath(path: string): string {
  const fromHere = relative(process.cwd(), path)
  return fromHere.startsWith('..') ? path : `./${fromHere}`
}
