import { registrySettings, s3Settings } from '@shoal/registry/settings'
import type { Command } from 'commander'
import { createOption, showVariables } from '../settings/options.ts'
import { wholeNumberParser } from '../terminal/units.ts'

export type DataOption = { data?: string }
export type ServerOptions = DataOption & { port?: number; host?: string; baseUrl?: string }

export function addServerOptions(command: Command): Command {
  const { port, host, baseUrl } = registrySettings
  addDataOption(command)
    .addOption(createOption(port).argParser(wholeNumberParser(0, 65_535)))
    .addOption(createOption(host))
    .addOption(createOption(baseUrl))
  return showVariables(command, [...Object.values(registrySettings), ...Object.values(s3Settings)])
}

export function addDataOption(command: Command): Command {
  return command.addOption(createOption(registrySettings.dataDirectory))
}

/** Returns a function that adds a subcommand with the option `--data`. */
export const dataCommands =
  (parent: Command) =>
  (name: string, description: string): Command =>
    addDataOption(parent.command(name).description(description))

/** Converts the options to flags for the registry's configuration. */
export function toRegistryFlags({ port, host, data, baseUrl }: ServerOptions) {
  return {
    ...(port !== undefined && { port: String(port) }),
    ...(host !== undefined && { host }),
    ...(data !== undefined && { data }),
    ...(baseUrl !== undefined && { baseUrl }),
  }
}
