import type { Command, Option } from 'commander'

export type Candidate = { name: string; meaning?: string }

/** The sources of the names to suggest: this machine, the daemon and the registry. */
export type Names = {
  localModels(): Promise<Candidate[]>
  loadedModels(): Promise<Candidate[]>
  registryModels(typed: string): Promise<Candidate[]>
  settings(): Candidate[]
}

const localCommands = ['path', 'preset', 'rm', 'verify', 'run', 'load']
const registryCommands = [
  ...['show', 'pull', 'link', 'like', 'unlike'],
  ...['edit', 'rename', 'delete', 'files', 'members', 'transfer'],
]

/** Returns the possible completions of the last word in the line. */
export async function candidatesFor(program: Command, line: string, names: Names) {
  const words = line.trimStart().split(/\s+/).slice(1)
  const typed = words.pop() ?? ''
  const command = commandAt(program, words)
  const candidates = await allCandidates({ program, command, typed, words }, names)
  const start = typed.toLowerCase()
  return candidates.filter(({ name }) => name.toLowerCase().startsWith(start) && name !== typed)
}

type Place = { program: Command; command: Command; typed: string; words: readonly string[] }

async function allCandidates(place: Place, names: Names): Promise<Candidate[]> {
  const { program, command, typed, words } = place
  const options = [...new Set([...command.options, ...program.options])]
  const waiting = optionNamed(options, words.at(-1))
  if (waiting?.long === '--model') return names.localModels()
  if (waiting?.required) return (waiting.argChoices ?? []).map((name) => ({ name }))
  if (typed.startsWith('-')) return options.flatMap(toCandidates)
  if (command.commands.length > 0) return listSubcommands(command)

  const [argument] = command.registeredArguments
  if (argument?.argChoices) return argument.argChoices.map((name) => ({ name }))
  if (command.parent?.name() === 'config') return names.settings()
  const [first = ''] = listNames(command)
  if (first === 'unload') return names.loadedModels()
  if (localCommands.includes(first)) return names.localModels()
  if (registryCommands.includes(first)) return names.registryModels(typed)
  return []
}

/** The words of a command without the program's name, such as `files` and `rm`. */
const listNames = (command: Command): string[] =>
  command.parent ? [...listNames(command.parent), command.name()] : []

/** Finds the command in a command line, such as `keys revoke` in `--json keys revoke laptop`. */
function commandAt(program: Command, words: readonly string[]): Command {
  return words.reduce((command, word) => {
    const next = command.commands.find((one) => [one.name(), ...one.aliases()].includes(word))
    return next ?? command
  }, program)
}

const optionNamed = (options: readonly Option[], word: string | undefined) =>
  options.find(({ long, short }) => word !== undefined && (word === long || word === short))

const toCandidates = ({ long, description, hidden }: Option): Candidate[] =>
  long && !hidden ? [{ name: long, meaning: description }] : []

const listSubcommands = (command: Command): Candidate[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .map((one) => ({ name: one.name(), meaning: one.description() }))
