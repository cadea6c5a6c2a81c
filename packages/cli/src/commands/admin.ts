import type { Admin } from '@shoal/registry'
import { Command } from 'commander'
import type { Context, OpenContext } from '../context.ts'
import { type DataOption, dataCommands } from '../server/server-options.ts'
import { readDataConfig, withAdmin } from '../server/with-admin.ts'
import { Failure } from '../terminal/failure.ts'
import { openProgress } from '../terminal/progress.ts'
import { formatBytes, plural } from '../terminal/units.ts'
import { auditCommand } from './admin-audit.ts'
import { releasesCommand } from './admin-releases.ts'
import { statusCommand } from './admin-status.ts'
import { storeCommand } from './admin-store.ts'
import { trashCommand } from './admin-trash.ts'
import { addUserCommands } from './admin-users.ts'

export function adminCommand(open: OpenContext): Command {
  const admin = new Command('admin').description('administer the registry on this host')
  const add = dataCommands(admin)

  admin.addCommand(statusCommand(open))
  addUserCommands(admin, open)
  admin.addCommand(auditCommand(open))

  add('gc', 'move unused objects to the trash, and remove abandoned uploads').action(
    async (options: DataOption) => {
      await withAdmin(open, options, collectGarbage)
    },
  )

  admin.addCommand(trashCommand(open))

  add('adopt-store', 'record that a restored database and store belong together').action(
    async (options: DataOption) => {
      await adoptStore(await open(), options)
    },
  )

  add('check', 'verify every stored file against its hash').action(async (options: DataOption) => {
    await withAdmin(open, options, checkStore)
  })

  admin.addCommand(storeCommand(open))
  admin.addCommand(releasesCommand(open))

  return admin
}

async function collectGarbage(admin: Admin, { printer, options }: Context): Promise<void> {
  const report = await admin.collectGarbage({ takesUnknown: options.yes === true })
  const { expiredUploads, leftUploads, trashed, heldBack } = report
  if (heldBack.objects > 0) {
    throw new Failure(
      'failed',
      `Not moved to the trash: ${plural(heldBack.objects, 'object')} (${formatBytes(heldBack.bytes)}) unknown to this database.`,
      {
        hint: 'Unknown objects make up more than a tenth of all stored bytes. If this is the correct database, run: shoal admin gc --yes',
        details: { ...report },
      },
    )
  }
  await printer.answer(report, () => [
    `${plural(trashed.objects, 'object')} moved to the trash, ${formatBytes(trashed.bytes)}`,
    `${plural(expiredUploads + leftUploads.objects, 'unfinished upload')} removed`,
  ])
}

async function adoptStore(context: Context, options: DataOption): Promise<void> {
  const { printer, asker } = context
  const config = await readDataConfig(context, options)
  await asker.confirm(
    `Record that the database and the store of ${config.dataDirectory} belong together?`,
  )
  const { adoptStore: adopt } = await import('@shoal/registry')
  const found = await adopt(config)
  printer.success('The database and the store now belong to the same registry.')
  await printer.answer(found, () =>
    found.missing === 0
      ? `${plural(found.sampled, 'stored file')} checked, all found`
      : `${plural(found.sampled, 'stored file')} checked, ${found.missing} missing`,
  )
  if (found.missing > 0) printer.note('  To list them: shoal admin check')
  if (found.sampled === 0) {
    printer.warn('The database lists no files, so everything in the store now counts as unused.')
  }
}

async function checkStore(admin: Admin, context: Context): Promise<void> {
  const { printer } = context
  const signal = context.takeStopSignal()
  const progress = await openProgress(printer, 'check')
  const onProgress = (bytesDone: number, bytesTotal: number) => {
    progress.event({ type: 'checking', ...{ bytesDone, bytesTotal } })
    progress.update({ bytesDone, bytesTotal })
  }
  const report = await admin.check(onProgress, signal).finally(progress.end)
  await printer.answer(report, () => [
    `${plural(report.files, 'file')}, ${formatBytes(report.bytes)}, ${plural(report.problems.length, 'problem')}`,
    ...report.problems.map(({ sha256_hash, paths, detail }) => {
      return `${printer.out.red('✗')} ${paths.join(', ') || sha256_hash}: ${detail}`
    }),
  ])
  if (report.problems.length > 0) context.endWith('verification_failed')
}
