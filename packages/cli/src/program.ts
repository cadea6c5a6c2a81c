/** All commands, in the same groups and order as in the help. */
import { daemonSettings } from '@shoal/daemon/settings'
import { networkSettings } from '@shoal/network'
import { Command, type Option } from 'commander'
import type { OpenContext } from './context.ts'
import type { CliEnvironment } from './environment.ts'
import { toMisuse } from './failures/to-failure.ts'
import { addGlobalOptions } from './global-options.ts'
import { showVariables } from './settings/options.ts'
import { cliSettings } from './settings/settings.ts'
import { namingInput } from './terminal/failure.ts'
import { version } from './version.ts'

type MakeCommand = (open: OpenContext) => Command

const groups: Record<string, Record<string, () => Promise<MakeCommand>>> = {
  Models: {
    search: async () => (await import('./commands/search.ts')).searchCommand,
    show: async () => (await import('./commands/show.ts')).showCommand,
    pull: async () => (await import('./commands/pull.ts')).pullCommand,
    import: async () => (await import('./commands/import.ts')).importCommand,
    ls: async () => (await import('./commands/list.ts')).listCommand,
    preset: async () => (await import('./commands/preset.ts')).presetCommand,
    rm: async () => (await import('./commands/remove.ts')).removeCommand,
    path: async () => (await import('./commands/path.ts')).pathCommand,
    verify: async () => (await import('./commands/verify.ts')).verifyCommand,
  },
  Publish: {
    push: async () => (await import('./commands/push.ts')).pushCommand,
    edit: async () => (await import('./commands/edit.ts')).editCommand,
    rename: async () => (await import('./commands/rename.ts')).renameCommand,
    delete: async () => (await import('./commands/delete.ts')).deleteCommand,
    files: async () => (await import('./commands/files.ts')).filesCommand,
    members: async () => (await import('./commands/members.ts')).membersCommand,
    transfer: async () => (await import('./commands/members.ts')).transferCommand,
  },
  Run: {
    run: async () => (await import('./commands/run.ts')).runCommand,
    serve: async () => (await import('./commands/serve.ts')).serveCommand,
    ps: async () => (await import('./commands/ps.ts')).psCommand,
    load: async () => (await import('./commands/load.ts')).loadCommand,
    unload: async () => (await import('./commands/unload.ts')).unloadCommand,
    stop: async () => (await import('./commands/stop.ts')).stopCommand,
    logs: async () => (await import('./commands/logs.ts')).logsCommand,
    service: async () => (await import('./commands/service.ts')).serviceCommand,
    runtime: async () => (await import('./commands/runtime.ts')).runtimeCommand,
  },
  Share: {
    seed: async () => (await import('./commands/seed.ts')).seedCommand,
    link: async () => (await import('./commands/link.ts')).linkCommand,
  },
  Registry: {
    up: async () => (await import('./commands/up.ts')).upCommand,
    registry: async () => (await import('./commands/registry.ts')).registryCommand,
    admin: async () => (await import('./commands/admin.ts')).adminCommand,
  },
  Account: {
    register: async () => (await import('./commands/register.ts')).registerCommand,
    login: async () => (await import('./commands/login.ts')).loginCommand,
    logout: async () => (await import('./commands/logout.ts')).logoutCommand,
    whoami: async () => (await import('./commands/whoami.ts')).whoamiCommand,
    like: async () => (await import('./commands/like.ts')).likeCommand,
    unlike: async () => (await import('./commands/like.ts')).unlikeCommand,
    keys: async () => (await import('./commands/keys.ts')).keysCommand,
  },
  Other: {
    config: async () => (await import('./commands/config.ts')).configCommand,
    doctor: async () => (await import('./commands/doctor.ts')).doctorCommand,
    upgrade: async () => (await import('./commands/upgrade.ts')).upgradeCommand,
    completion: async () => (await import('./commands/completion.ts')).completionCommand,
  },
}

/** Aliases of commands. */
const aliases: Record<string, string> = { list: 'ls' }

/**
 * Creates the program for a command line. If `words` begins with the name of a command, loads only that command,
 * because loading all of them takes longer.
 */
export async function shoalProgram(
  open: OpenContext,
  { stdout, stderr }: CliEnvironment,
  words: readonly string[] = [],
): Promise<Command> {
  const program = addGlobalOptions(new Command('shoal'))
    .description('Find, pull and share language models in the GGUF format.')
    .version(version, '-V, --version', 'print the version number')
    .addHelpCommand(helpCommand())
    .configureHelp({ sortSubcommands: false })
    .showSuggestionAfterError()
  const { home, registry, token, inference, modelFolders } = cliSettings
  const { caFile, timeouts } = networkSettings
  const apiKey = { ...daemonSettings.apiKey, description: 'API key to send to the daemon' }
  showVariables(program, [home, registry, token, inference, modelFolders, apiKey, caFile, timeouts])
  for (const { group, load } of neededCommands(words)) {
    const make = await load()
    program.addCommand(make(open).helpGroup(`${group}:`))
  }
  if (words[0] === '__complete') {
    const { completeCommand } = await import('./commands/complete.ts')
    program.addCommand(completeCommand(open, program), { hidden: true })
  }
  for (const command of withSubcommands(program)) {
    if (command !== program && command.commands.length > 0) command.addHelpCommand(helpCommand())
    for (const option of command.options) nameInErrors(option)
    command
      .exitOverride((error) => {
        const isHelp = error.exitCode === 0 || error.code === 'commander.help'
        throw isHelp ? error : toMisuse(error, fullName(command))
      })
      .helpOption('-h, --help', 'show help for this command')
      .configureHelp({
        sortSubcommands: false,
        showGlobalOptions: command !== program,
        // Omits the options of a parent command, because its subcommands ignore them: `shoal seed status` ignores those
        // of `shoal seed`.
        visibleGlobalOptions: () => [...program.options],
        // Omits “[options]”, which nearly every command has, to leave room for descriptions in 80 columns.
        subcommandTerm: (one) =>
          [one.name(), one.usage().replace(/\[options\] ?/, '')].join(' ').trim(),
      })
      .configureOutput({
        writeOut: (text) => stdout.write(text),
        writeErr: (text) => stderr.write(text),
        // Prints nothing, because `runCommandLine` prints all errors in the same format.
        outputError: () => undefined,
      })
  }
  return program
}

function neededCommands([first, ...others]: readonly string[]) {
  const isVersion = others.length === 0 && (first === '-V' || first === '--version')
  if (isVersion) return []
  const all = Object.entries(groups).flatMap(([group, commands]) =>
    Object.entries(commands).map(([name, load]) => ({ group, name, load })),
  )
  const named = all.filter(({ name }) => name === (aliases[first ?? ''] ?? first))
  return named.length > 0 ? named : all
}

function helpCommand(): Command {
  return new Command('help')
    .argument('[command]')
    .description('show help for a command')
    .helpGroup('Other:')
}

/** The command's name with those of the commands that contain it, such as `shoal admin users`. */
const fullName = (command: Command): string =>
  [...(command.parent ? [fullName(command.parent)] : []), command.name()].join(' ')

/** Adds the option's name to the errors of its parser. */
function nameInErrors(option: Option) {
  const { parseArg: parse, long } = option
  if (!parse || !long) return
  option.argParser((text, former) => namingInput(long, () => parse(text, former)))
}

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)]
}
