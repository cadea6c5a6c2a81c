import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Argument, Command } from 'commander'
import type { OpenContext } from '../context.ts'
import { misuse } from '../terminal/failure.ts'

const shells = ['bash', 'zsh', 'fish']
const scriptDirectory = join(import.meta.dirname, '../completion')

export function completionCommand(open: OpenContext): Command {
  return new Command('completion')
    .description('print a shell completion script')
    .addArgument(
      new Argument('<shell>', 'shell in which to complete shoal commands')
        .choices(shells)
        .argParser(knownShell),
    )
    .addHelpText(
      'after',
      '\nbash (~/.bashrc): source <(shoal completion bash)\n' +
        'zsh (~/.zshrc):   source <(shoal completion zsh)\n' +
        'fish (run once):  shoal completion fish > ~/.config/fish/completions/shoal.fish',
    )
    .action(async (shell: string) => {
      const { printer } = await open({ isForShell: true })
      const script = await readFile(join(scriptDirectory, `shoal.${shell}`), 'utf8')
      await printer.answer({ shell, script }, () => script.trimEnd().split('\n'))
    })
}

function knownShell(text: string): string {
  if (shells.includes(text)) return text
  throw misuse(`Unsupported shell “${text}”.`, `Supported shells: ${shells.join(', ')}.`)
}
