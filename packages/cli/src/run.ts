/** Runs a command line and returns its exit code. */
import { exitCodes } from '@shoal/core/errors/table'
import { CommanderError } from 'commander'
import { contextOpener, type Trace } from './context.ts'
import type { CliEnvironment } from './environment.ts'
import { toFailure } from './failures/to-failure.ts'
import { shoalProgram } from './program.ts'
import { placeFailure } from './settings/place-failure.ts'
import { readPlaces } from './settings/places.ts'
import type { GlobalOptions } from './terminal/global-options.ts'
import { createPrinter } from './terminal/printer.ts'

export async function runCommandLine(words: readonly string[], environment: CliEnvironment) {
  const trace: Trace = { endsByItself: false, exitCode: 0 }
  const open = contextOpener(environment, trace, () => program.opts<GlobalOptions>())
  const program = await shoalProgram(open, environment, words)
  try {
    if (words.length === 0) {
      program.outputHelp()
      return 0
    }
    await untilStopped(program.parseAsync([...words], { from: 'user' }), environment, trace)
    return trace.exitCode
  } catch (error) {
    // Commander has already printed the version or the help. It also prints the help for a group without a subcommand.
    if (error instanceof CommanderError && error.exitCode === 0) return 0
    if (error instanceof CommanderError && error.code === 'commander.help') return exitCodes.usage
    const failure =
      placeFailure(error, readPlaces(environment.env)) ?? toFailure(error, trace.lastRegistry)
    const printer = trace.printer ?? createPrinter(environment, optionsIn(words))
    printer.fail(failure)
    return failure.exitCode
  }
}

/** Rejects on Ctrl-C without waiting for the command, unless the command handles Ctrl-C itself. */
function untilStopped(command: Promise<unknown>, { stopSignal }: CliEnvironment, trace: Trace) {
  return new Promise<void>((resolve, reject) => {
    command.then(() => resolve(), reject)
    const onStop = () => {
      if (!trace.endsByItself) reject(stopSignal.reason)
    }
    stopSignal.addEventListener('abort', onStop, { once: true })
    if (stopSignal.aborted) onStop()
  })
}

/**
 * Finds global flags in a command line that could not be parsed, so that the error is printed in the format that the
 * user requested.
 */
function optionsIn(words: readonly string[]): GlobalOptions {
  const has = (...names: string[]) => names.some((name) => words.includes(name))
  return {
    json: has('--json'),
    quiet: has('-q', '--quiet'),
    verbose: has('-v', '--verbose'),
    debug: has('--debug'),
    color: !has('--no-color'),
    input: !has('--no-input'),
    yes: has('-y', '--yes'),
    ...(has('--progress=json') && { progress: 'json' as const }),
  }
}
