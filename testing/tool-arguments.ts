import { type ParseArgsConfig, parseArgs } from 'node:util'

/**
 * Parses the command line of one of the repository's tools. Prints `help` and exits for `--help`. If the command line is
 * invalid, prints the reason instead of a stack, and exits with 2.
 */
export function parseToolArguments<const T extends ParseArgsConfig>(
  help: string,
  config: T,
): ReturnType<typeof parseArgs<T>> {
  const words = process.argv.slice(2)
  if (words.includes('--help') || words.includes('-h')) {
    process.stdout.write(`${help}\n`)
    process.exit(0)
  }
  try {
    return parseArgs(config)
  } catch (error) {
    return misuse(error instanceof Error ? error.message : String(error))
  }
}

/** Exits with an error about an invalid command line. */
export function misuse(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}
