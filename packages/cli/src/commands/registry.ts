import { Command } from 'commander'
import type { OpenContext } from '../context.ts'
import { reportMisaddressed } from '../server/misaddressed.ts'
import { addServerOptions, type ServerOptions, toRegistryFlags } from '../server/server-options.ts'
import { startRegistry } from '../server/start-registry.ts'
import { untilStopped } from '../server/until-stopped.ts'

export function registryCommand(open: OpenContext): Command {
  const command = new Command('registry').description('run a registry, logging to stdout')
  return addServerOptions(command).action(async (options: ServerOptions) => {
    const { printer, environment, takeStopSignal } = await open()
    const stopSignal = takeStopSignal()
    const { readRegistryConfig } = await import('@shoal/registry')
    const config = readRegistryConfig(environment.env, toRegistryFlags(options))
    const running = await startRegistry(config)
    printer.success(`The registry is running at ${running.url}.`)
    printer.note(`  Data: ${running.dataDirectory}. Press Ctrl-C to stop.`)
    if (running.setupCode) {
      printer.warn(`Setup code for the first account: ${running.setupCode}`)
    }
    if (running.isMisaddressed) reportMisaddressed(printer, running.url)
    await untilStopped(stopSignal)
    printer.note('Stopping when requests in progress have finished.')
    await running.close()
  })
}
