import { compareVersions } from '@shoal/core/releases'
import { Command } from 'commander'
import type { OpenContext } from '../context.ts'
import { Failure } from '../terminal/failure.ts'
import { openProgress } from '../terminal/progress.ts'
import { installRelease } from '../upgrade/install-release.ts'
import { findInstallation } from '../upgrade/installation.ts'
import { findOfferedRelease } from '../upgrade/offered-release.ts'

export function upgradeCommand(open: OpenContext): Command {
  return new Command('upgrade')
    .description('install the newest release of shoal from the registry')
    .action(async () => {
      const context = await open()
      const { printer, asker, environment } = context
      const installation = await findInstallation(environment.programFolder ?? import.meta.dirname)
      if (installation === undefined) {
        throw new Failure('failed', "shoal was not installed by a registry's install script.", {
          hint: 'Upgrade it the way you installed it, for example with npm or apt.',
        })
      }
      const registry = await context.openRegistry()
      const platform = `${process.platform}-${process.arch}`
      const offered = await findOfferedRelease(registry, platform, installation.key)
      const { version: from } = installation
      const { version: to } = offered
      const order = compareVersions(to, from)
      if (order < 0) {
        throw new Failure(
          'failed',
          `The newest release at ${registry.label} is shoal ${to}, which is older than the installed version, ${from}.`,
          {
            hint: 'Nothing was changed.',
          },
        )
      }
      if (order === 0) printer.success(`shoal ${from} is the newest version at ${registry.label}.`)
      else {
        await asker.confirm(
          `Upgrade shoal from ${from} to ${to}, with the release at ${registry.address}?`,
        )
        await installRelease(
          registry,
          installation,
          offered,
          await openProgress(printer, 'upgrade'),
        )
        printer.success(`Upgraded shoal from ${from} to ${to}.`)
        printer.note('  A running daemon keeps using the previous version. To stop it: shoal stop')
      }
      await printer.answer({ from, to, upgraded: order > 0 }, () => [])
    })
}
