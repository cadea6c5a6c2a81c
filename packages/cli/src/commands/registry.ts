import { Command } from 'commander'
import type { OpenContext } from '../context.ts'
import { reportMisaddressed } from '../server/misaddressed.ts'
import { addServerOptions, type ServerOptions, toRegistryFlags } from '../server/server-options.ts'
import { untilStopped } from '../server/until-stopped.ts'

export function registryCommand(open: OpenContext): Command {
  const command = new Command('registry').description('run a registry; its log goes to stdout')
  return addServerOptions(command).action(async (options: ServerOptions) => {
    const { printer, environment, takeStopSignal } = await open()
    const stopSignal = takeStopSignal()
    const { readRegistryConfig, startRegistry } = await import('@shoal/registry')
    const config = readRegistryConfig(environment.env, toRegistryFlags(options))
    const running = await startRegistry(config)
    printer.success(`The registry answers at ${running.url}.`)
    printer.note(`  Data in ${running.dataDirectory}. Ctrl-C ends it.`)
    if (running.setupCode) {
      printer.warn(`The first account needs this setup code: ${running.setupCode}`)
    }
    if (running.isMisaddressed) reportMisaddressed(printer, running.url)
    await untilStopped(stopSignal)
    printer.note('Ending: running requests may finish.')
    await running.close()
  })
}
