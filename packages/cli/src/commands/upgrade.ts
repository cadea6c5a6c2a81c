import type { Ending } from '@shoal/core/errors/table'
import {
  compareVersions,
  findInstallation,
  findOfferedRelease,
  installRelease,
  UpgradeError,
  type UpgradeFailure,
} from '@shoal/releases/upgrade'
import { Command } from 'commander'
import type { OpenContext } from '../context.ts'
import { Failure } from '../terminal/failure.ts'
import { openProgress } from '../terminal/progress.ts'

const unchanged = 'Nothing was changed.'

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
      const offered = await findOfferedRelease(registry, platform, installation.key).catch(explain)
      const { version: from } = installation
      const { version: to } = offered
      const order = compareVersions(to, from)
      if (order < 0) {
        throw new Failure(
          'failed',
          `The newest release at ${registry.label} is shoal ${to}, which is older than the installed version, ${from}.`,
          { hint: unchanged },
        )
      }
      if (order === 0) printer.success(`shoal ${from} is the newest version at ${registry.label}.`)
      else {
        await asker.confirm(
          `Upgrade shoal from ${from} to ${to}, with the release at ${registry.address}?`,
        )
        const progress = await openProgress(printer, 'upgrade')
        await installRelease(registry, installation, offered, progress).catch(explain)
        printer.success(`Upgraded shoal from ${from} to ${to}.`)
        printer.note('  A running daemon keeps using the previous version. To stop it: shoal stop')
      }
      await printer.answer({ from, to, upgraded: order > 0 }, () => [])
    })
}

const failures: Record<UpgradeFailure, { ending: Ending; hint?: string }> = {
  none_offered: {
    ending: 'not_found',
    hint: "The registry's operator can add one: shoal admin releases add <folder>",
  },
  untrusted: { ending: 'verification_failed', hint: unchanged },
  bad_response: { ending: 'registry_failed' },
  too_large: { ending: 'failed' },
}

function explain(error: unknown): never {
  if (!(error instanceof UpgradeError)) throw error
  const { ending, hint } = failures[error.reason]
  throw new Failure(ending, error.message, { hint, cause: error })
}
