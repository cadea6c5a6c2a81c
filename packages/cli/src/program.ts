/** Every command, in the groups and order of the help. */
import { daemonSettings } from '@shoal/daemon/settings'
import { networkSettings } from '@shoal/network'
import { Command } from 'commander'
import { adminCommand } from './commands/admin.ts'
import { completeCommand } from './commands/complete.ts'
import { completionCommand } from './commands/completion.ts'
import { configCommand } from './commands/config.ts'
import { doctorCommand } from './commands/doctor.ts'
import { keysCommand } from './commands/keys.ts'
import { likeCommand, unlikeCommand } from './commands/like.ts'
import { linkCommand } from './commands/link.ts'
import { listCommand } from './commands/list.ts'
import { loadCommand } from './commands/load.ts'
import { loginCommand } from './commands/login.ts'
import { logoutCommand } from './commands/logout.ts'
import { logsCommand } from './commands/logs.ts'
import { pathCommand } from './commands/path.ts'
import { psCommand } from './commands/ps.ts'
import { pullCommand } from './commands/pull.ts'
import { pushCommand } from './commands/push.ts'
import { registerCommand } from './commands/register.ts'
import { registryCommand } from './commands/registry.ts'
import { removeCommand } from './commands/remove.ts'
import { runCommand } from './commands/run.ts'
import { runtimeCommand } from './commands/runtime.ts'
import { searchCommand } from './commands/search.ts'
import { seedCommand } from './commands/seed.ts'
import { serveCommand } from './commands/serve.ts'
import { showCommand } from './commands/show.ts'
import { stopCommand } from './commands/stop.ts'
import { unloadCommand } from './commands/unload.ts'
import { upCommand } from './commands/up.ts'
import { verifyCommand } from './commands/verify.ts'
import { whoamiCommand } from './commands/whoami.ts'
import type { OpenContext } from './context.ts'
import type { CliEnvironment } from './environment.ts'
import { addGlobalOptions } from './global-options.ts'
import { showVariables } from './settings/options.ts'
import { cliSettings } from './settings/settings.ts'
import { version } from './version.ts'

const groups = {
  Models: [
    searchCommand,
    showCommand,
    pullCommand,
    listCommand,
    removeCommand,
    pathCommand,
    verifyCommand,
    pushCommand,
  ],
  Run: [
    runCommand,
    serveCommand,
    psCommand,
    loadCommand,
    unloadCommand,
    stopCommand,
    logsCommand,
    runtimeCommand,
  ],
  Share: [seedCommand, linkCommand],
  Registry: [upCommand, registryCommand, adminCommand],
  Account: [
    registerCommand,
    loginCommand,
    logoutCommand,
    whoamiCommand,
    likeCommand,
    unlikeCommand,
    keysCommand,
  ],
  Other: [configCommand, doctorCommand, completionCommand],
}

export function shoalProgram(open: OpenContext, { stdout, stderr }: CliEnvironment): Command {
  const program = addGlobalOptions(new Command('shoal'))
    .description('Find, pull and share language models in the GGUF format.')
    .version(version, '-V, --version')
    .addHelpCommand(helpCommand())
    .configureHelp({ sortSubcommands: false })
    .showSuggestionAfterError()
  const { home, registry, token, inference } = cliSettings
  const { caFile, timeouts } = networkSettings
  const { apiKey } = daemonSettings
  showVariables(program, [home, registry, token, inference, apiKey, caFile, timeouts])
  for (const [group, makers] of Object.entries(groups)) {
    for (const make of makers) program.addCommand(make(open).helpGroup(`${group}:`))
  }
  program.addCommand(
    completeCommand(open, () => program),
    { hidden: true },
  )
  for (const command of withSubcommands(program)) {
    command
      .exitOverride()
      .configureHelp({
        sortSubcommands: false,
        showGlobalOptions: command !== program,
        // Without “[options]”, which nearly every command would have: 80 columns leave room for descriptions.
        subcommandTerm: (one) =>
          [one.name(), one.usage().replace(/\[options\] ?/, '')].join(' ').trim(),
      })
      .configureOutput({
        writeOut: (text) => stdout.write(text),
        writeErr: (text) => stderr.write(text),
        // `runCommandLine` prints all errors, in one format.
        outputError: () => undefined,
      })
  }
  return program
}

function helpCommand(): Command {
  return new Command('help')
    .argument('[command]')
    .description('show help for a command')
    .helpGroup('Other:')
}

function withSubcommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withSubcommands)]
}
