import type { RegistryStatus } from '@shoal/protocol'
import { Command } from 'commander'
import type { OpenContext } from '../context.ts'
import { addDataOption, type DataOption } from '../server/server-options.ts'
import { withAdmin } from '../server/with-admin.ts'
import { formatAge, formatBytes, plural } from '../terminal/units.ts'

export function statusCommand(open: OpenContext): Command {
  return addDataOption(new Command('status'))
    .description('show the state of the store and of the processing queue')
    .action(async (options: DataOption) => {
      await withAdmin(open, options, async (admin, { printer }) => {
        const status = await admin.readStatus()
        await printer.answer(status, () => formatStatus(status))
        if (!status.store.is_available) {
          printer.warn('The store is not available. To see why: shoal admin check')
        }
      })
    })
}

const engines = { sqlite: 'SQLite', postgres: 'PostgreSQL' }
const kinds = { disk: 'folder on this machine', s3: 'S3 bucket' }

function formatStatus({ database, store, processing, uploads, failed_files }: RegistryStatus) {
  const rows = {
    database: engines[database],
    store: kinds[store.kind],
    stored: formatBytes(store.stored_bytes),
    ...(store.free_bytes !== null && { free: formatSpace(store, store.free_bytes) }),
    uploads: `${uploads} open`,
    processing: formatQueue(processing),
    failed: plural(failed_files, 'file'),
  }
  return Object.entries(rows).map(([name, text]) => `${name.padEnd(12)}${text}`)
}

function formatSpace({ reserve_bytes, awaited_bytes }: RegistryStatus['store'], freeBytes: number) {
  const kept = formatBytes(reserve_bytes ?? 0)
  return `${formatBytes(freeBytes)}, of which ${kept} is kept free and ${formatBytes(awaited_bytes ?? 0)} is reserved for open uploads`
}

function formatQueue({ waiting, running, oldest_at }: RegistryStatus['processing']): string {
  if (oldest_at === null) return 'no files'
  return `${plural(running, 'file')} being processed, ${waiting} waiting; the oldest upload began ${formatAge(oldest_at)}`
}
