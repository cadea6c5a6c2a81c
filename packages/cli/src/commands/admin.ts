import type { Admin } from '@shoal/registry'
import { Command } from 'commander'
import type { Context, OpenContext } from '../context.ts'
import { addDataOption, flagsOf } from '../server/server-options.ts'
import { misuse } from '../terminal/failure.ts'
import { openProgress } from '../terminal/progress.ts'
import { type Column, table } from '../terminal/table.ts'
import { formatBytes, plural } from '../terminal/units.ts'

type DataOption = { data?: string }

export function adminCommand(open: OpenContext): Command {
  const admin = new Command('admin').description("keep a registry, on the server's own machine")
  const add = (name: string, description: string) =>
    addDataOption(admin.command(name).description(description))

  add('users', 'all accounts').action(async (options: DataOption) => {
    await withAdmin(open, options, async (registry, { printer }) => {
      const users = await registry.listUsers()
      await printer.answer(users, () => table(userColumns, users, { paintTitle: printer.out.dim }))
    })
  })

  add('reset-password', 'give an account a new password; it alone goes to stdout')
    .argument('<username>', 'whose')
    .action(async (username: string, options: DataOption) => {
      await withAdmin(open, options, async (registry, { printer, asker }) => {
        if (asker.canAsk)
          await asker.confirm(`Give ${username} a new password, and end their sessions?`)
        const password = await registry.resetPassword(username)
        printer.note(`New password of ${username}, shown this once:`)
        await printer.answer({ username, password }, () => password)
      })
    })

  add('gc', 'delete the bytes that nothing refers to any more').action(
    async (options: DataOption) => {
      await withAdmin(open, options, async (registry, { printer }) => {
        const report = await registry.collectGarbage()
        const { expiredUploads, objects, bytes } = report
        await printer.answer(report, () => [
          `${plural(objects, 'object')} deleted, ${formatBytes(bytes)} freed`,
          `${plural(expiredUploads, 'upload')} expired`,
        ])
      })
    },
  )

  add('check', 'hash every stored file again, and name what is wrong').action(
    async (options: DataOption) => {
      await withAdmin(open, options, checkStore)
    },
  )

  return admin
}

async function withAdmin(
  open: OpenContext,
  options: DataOption,
  work: (admin: Admin, context: Context) => Promise<void>,
): Promise<void> {
  const context = await open()
  if (context.options.registry !== undefined) {
    throw misuse('admin works on a data folder, not on an address.', 'Name the folder with --data.')
  }
  const { openAdmin, readRegistryConfig } = await import('@shoal/registry')
  const admin = await openAdmin(readRegistryConfig(context.surroundings.env, flagsOf(options)))
  try {
    await work(admin, context)
  } finally {
    await admin.close()
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
    ...report.problems.map(({ sha256_hash, models, detail }) => {
      return `${printer.out.red('✗')} ${models.join(', ') || sha256_hash}: ${detail}`
    }),
  ])
  if (report.problems.length > 0) context.endWith('verification_failed')
}

type ListedUser = Awaited<ReturnType<Admin['listUsers']>>[number]

const userColumns: Column<ListedUser>[] = [
  { title: 'USERNAME', text: ({ username }) => username },
  { title: 'EMAIL', text: ({ email }) => email ?? '–' },
  {
    title: 'ROLE',
    text: ({ is_admin, is_system }) => (is_system ? 'system' : is_admin ? 'admin' : 'user'),
  },
  { title: 'SINCE', text: ({ created_at }) => created_at.slice(0, 10) },
]
