import { join } from 'node:path'
import { registryClient } from '@shoal/protocol/client'
import type { RunningRegistry } from '@shoal/registry'
import { Command, Option } from 'commander'
import type { OpenContext } from '../context.ts'
import { demoDirectory } from '../demo/demo-models.ts'
import { publishDemo } from '../demo/publish-demo.ts'
import { toFailure } from '../failures/to-failure.ts'
import { findOwnDaemon, type Inference, tryToStartInference } from '../server/inference.ts'
import { reportMisaddressed } from '../server/misaddressed.ts'
import { addServerOptions, type ServerOptions, toRegistryFlags } from '../server/server-options.ts'
import { startRegistry } from '../server/start-registry.ts'
import { untilStopped } from '../server/until-stopped.ts'
import { welcome } from '../server/welcome.ts'
import type { Printer } from '../terminal/printer.ts'
import { wholeNumberParser } from '../terminal/units.ts'

type UpOptions = ServerOptions & { demo: boolean; inference: boolean; inferencePort?: number }

export function upCommand(open: OpenContext): Command {
  const command = new Command('up').description(
    'run a local inference API and a registry with demo models',
  )
  return addServerOptions(command)
    .option('--no-demo', 'do not publish the demo models')
    .addOption(
      new Option('--inference-port <number>', 'port of the local API (default: 11434)').argParser(
        wholeNumberParser(0, 65_535),
      ),
    )
    .option('--no-inference', 'do not start the local API')
    .action(async (options: UpOptions) => {
      const context = await open()
      const { printer, environment } = context
      const stopSignal = context.takeStopSignal()
      const { readRegistryConfig } = await import('@shoal/registry')
      const config = readRegistryConfig(environment.env, toRegistryFlags(options))
      const logFile = join(config.dataDirectory, 'registry.log')
      const registry = await startRegistry({ ...config, log: { file: logFile } })
      let inference: Inference | undefined
      try {
        if (options.demo) await tryToPublishDemo(printer, registry, stopSignal)
        if (options.inference && !stopSignal.aborted) {
          const upOptions = { registry, port: options.inferencePort, withDemo: options.demo }
          inference = await tryToStartInference(context, upOptions)
        }
        if (!options.inference) {
          const own = await findOwnDaemon(context)
          if (own) registry.setLocalApi(own)
        }
        if (!stopSignal.aborted) await welcome(printer, { registry, logFile, inference })
        if (registry.isMisaddressed) reportMisaddressed(printer, registry.url)
        await untilStopped(stopSignal)
        printer.note(
          'Stopping when requests in progress have finished. Press Ctrl-C again to stop now.',
        )
      } finally {
        await Promise.all([registry.close(), inference?.close()])
      }
    })
}

/** Publishes the demo models. Only warns if this fails, because the registry is useful without them. */
async function tryToPublishDemo(printer: Printer, running: RunningRegistry, signal: AbortSignal) {
  const { url, dataDirectory } = running
  const client = registryClient({ baseUrl: url, token: await running.systemToken() })
  try {
    await publishDemo(printer, { client, directory: demoDirectory, dataDirectory, signal })
  } catch (error) {
    if (signal.aborted) return
    const { message } = toFailure(error, undefined)
    printer.warn(`Not all demo models were published: ${message}`)
    printer.note('  The missing models will be published the next time shoal up starts.')
  }
}
