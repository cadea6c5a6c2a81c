import type { Admin } from '@shoal/registry'
import { Command } from 'commander'
import type { OpenContext } from '../context.ts'
import { type DataOption, dataCommands } from '../server/server-options.ts'
import { withAdmin } from '../server/with-admin.ts'
import { printList } from '../terminal/print-list.ts'
import type { Column } from '../terminal/table.ts'
import { formatBytes, plural, toMinute } from '../terminal/units.ts'

export function trashCommand(open: OpenContext): Command {
  const trash = new Command('trash').description('list, restore or delete objects in the trash')
  const add = dataCommands(trash)

  add('ls', 'list the trash').action(async (options: DataOption) => {
    await withAdmin(open, options, async (registry, { printer }) => {
      await printList(printer, await registry.trash.list(), {
        columns,
        none: 'The trash is empty.',
      })
    })
  })

  add(
    'restore',
    'take objects out of the trash if files refer to them again, for example after a database restore',
  ).action(async (options: DataOption) => {
    await withAdmin(open, options, async (registry, { printer }) => {
      const restored = await registry.trash.restore()
      const left = await registry.trash.size()
      await printer.answer({ restored, left }, () => [
        `${plural(restored.objects, 'object')} restored, ${formatBytes(restored.bytes)}`,
      ])
      if (left.objects === 0) return
      printer.note(
        `Left in the trash: ${plural(left.objects, 'object')} that no file refers to. ` +
          'To bring back deleted models, restore a database backup, then run this command again.',
      )
    })
  })

  add('empty', 'permanently delete everything in the trash').action(async (options: DataOption) => {
    await withAdmin(open, options, async (registry, { printer, asker }) => {
      const { objects, bytes } = await registry.trash.size()
      if (objects > 0) {
        const amount = `${plural(objects, 'object')} (${formatBytes(bytes)})`
        await asker.confirm(`Permanently delete ${amount}?`)
      }
      const removed = await registry.trash.empty()
      await printer.answer(removed, () => [
        `${plural(removed.objects, 'object')} deleted, ${formatBytes(removed.bytes)} freed`,
      ])
    })
  })

  return trash
}

type TrashedObject = Awaited<ReturnType<Admin['trash']['list']>>[number]

const columns: Column<TrashedObject>[] = [
  { title: 'OBJECT', text: ({ object_key }) => object_key },
  { title: 'SIZE', text: ({ size_bytes }) => formatBytes(size_bytes), align: 'right' },
  { title: 'REASON', text: ({ reason }) => reason },
  { title: 'SINCE', text: ({ since }) => toMinute(since) },
]
