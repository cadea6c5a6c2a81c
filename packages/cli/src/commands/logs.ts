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
    .description('what the daemon of this machine has logged')
    .option('-f, --follow', 'go on with what comes, until Ctrl-C')
    .addOption(
      new Option('-n, --lines <number>', 'how many of the last lines')
        .argParser(wholeNumberParser(0, 1_000_000))
        .default(100),
    )
    .action(async ({ follow, lines }: LogsOptions) => {
      const context = await open()
      const { printer, places } = context
      if (follow && printer.isJson) throw misuse('What has no end cannot be one JSON document.')
      const state = await readDaemonState(places)
      if (state?.log_file === null) {
        throw new Failure('not_found', 'The log of this daemon goes to its own stdout.')
      }
      const path = state?.log_file ?? defaultLogFile(places)
      const last = await lastLines(path, lines)
      if (last === undefined) {
        throw new Failure('not_found', `There is no log at ${path} yet.`, {
          hint: 'shoal serve writes one.',
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

/** The log is lines of JSON; between them may be what a crash left. */
function parseEntry(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch (error) {
    if (error instanceof SyntaxError) return { msg: line }
    throw error
  }
}
