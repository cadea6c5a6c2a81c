import { type Command, Option } from 'commander'
import { wholeNumber } from '../terminal/units.ts'

export type DataOption = { data?: string }
export type ServerOptions = DataOption & { port?: number; host?: string; baseUrl?: string }

export function addServerOptions(command: Command): Command {
  return addDataOption(command)
    .addOption(
      new Option('--port <number>', 'where to listen (default: 8000)').argParser(
        wholeNumber(0, 65_535),
      ),
    )
    .option('--host <address>', 'on which address (default: 127.0.0.1)')
    .option('--base-url <address>', 'under which address others find it')
}

export function addDataOption(command: Command): Command {
  return command.option('--data <folder>', "the registry's data (default: ./data)")
}

/** As the registry's own configuration takes flags. */
export function flagsOf({ port, host, data, baseUrl }: ServerOptions) {
  return {
    ...(port !== undefined && { port: String(port) }),
    ...(host !== undefined && { host }),
    ...(data !== undefined && { data }),
    ...(baseUrl !== undefined && { baseUrl }),
  }
}
