import { Command, Option } from 'commander'
import type { OpenContext } from '../context.ts'
import { followFile, lastLines } from '../daemon/log-file.ts'
import { readableLine } from '../daemon/log-line.ts'
import { defaultLogFile, readDaemonState } from '../daemon/state-file.ts'
import { Failure, misuse } from '../terminal/failure.ts'
import { wholeNumberParser } from '../terminal/units.ts'

type LogsOptions = { follow?: boolean; lines: number }

export function logsCommand(open: OpenContext): Command {
  return new Command('logs')
    .description("show the daemon's log")
    .option('-f, --follow', 'keep printing new lines until Ctrl-C')
    .addOption(
      new Option('-n, --lines <number>', 'number of most recent lines to show')
        .argParser(wholeNumberParser(0, 1_000_000))
        .default(100),
    )
    .action(async ({ follow, lines }: LogsOptions) => {
      const context = await open()
      const { printer, places } = context
      if (follow && printer.isJson)
        throw misuse('--follow cannot be used with --json, which prints a single document.')
      const state = await readDaemonState(places)
      if (state?.log_file === null) {
        throw new Failure('not_found', 'The daemon logs to stdout, not to a file.', {
          hint: 'See the output of the terminal or service that runs it.',
        })
      }
      const path = state?.log_file ?? defaultLogFile(places)
      const last = await lastLines(path, lines)
      if (last === undefined) {
        throw new Failure('not_found', `No log at ${path} yet.`, {
          hint: 'The daemon creates the log when it starts. To start it: shoal serve',
        })
      }
      await printer.answer(last.lines.map(parseEntry), () => last.lines.map(readableLine))
      if (!follow) return
      const signal = context.takeStopSignal()
      for await (const line of followFile(path, last.end, signal)) {
        printer.result(readableLine(line))
      }
    })
}

/** The log consists of JSON lines, but a crash may leave other text in it. */
function parseEntry(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch (error) {
    if (error instanceof SyntaxError) return { msg: line }
    throw error
  }
}
