import { formatAge, formatBytes, plural } from '@shoal/core/units'
import type { RegistryStatus } from '@shoal/protocol'
import { adminCalls } from '@shoal/protocol/client'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useCalls } from '../api/context.ts'
import { AdminFailure } from './calls/admin-failure.tsx'
import { statusQuery } from './calls/admin-queries.ts'

/** The state of the database, the store, the uploads and the processing queue. */
export function StatusSection() {
  const status = useQuery(statusQuery(useCalls(adminCalls)))
  if (status.isError) return <AdminFailure error={status.error} onRetry={() => status.refetch()} />
  if (status.isPending) return <div className="skeleton h-40" aria-busy="true" />
  return (
    <dl className="grid max-w-[680px] border-line border-t text-[15px]">
      {describe(status.data).map(([name, text]) => (
        <div key={name} className="flex flex-wrap gap-x-5 border-line border-b py-3">
          <dt className="w-48 text-ink-3">{name}</dt>
          <dd className="min-w-0 flex-1">{text}</dd>
        </div>
      ))}
    </dl>
  )
}

const kinds = { disk: 'Disk', s3: 'S3' }
const engines = { sqlite: 'SQLite', postgres: 'PostgreSQL' }

function describe(status: RegistryStatus): [name: string, text: ReactNode][] {
  const { database, store, processing, uploads, failed_files } = status
  return [
    ['Database', engines[database]],
    [
      'Store',
      store.is_available ? (
        `${kinds[store.kind]}, available`
      ) : (
        <span key="store" className="font-medium text-roe-ink">
          {kinds[store.kind]}, not available
        </span>
      ),
    ],
    ['Stored', formatBytes(store.stored_bytes)],
    ['Free space', describeSpace(store)],
    ['Open uploads', uploads],
    ['Processing', describeQueue(processing)],
    ['Failed files', failed_files],
  ]
}

function describeSpace(store: RegistryStatus['store']): string {
  const { kind, free_bytes, reserve_bytes, awaited_bytes } = store
  if (free_bytes === null) return kind === 's3' ? 'Not limited by the registry' : 'Unknown'
  return `${formatBytes(free_bytes)}, of which ${formatBytes(reserve_bytes ?? 0)} must stay free and ${formatBytes(awaited_bytes ?? 0)} is reserved for open uploads`
}

function describeQueue({ waiting, running, oldest_at }: RegistryStatus['processing']): string {
  if (oldest_at === null) return 'No files are waiting'
  return `${plural(running, 'file')} being processed, ${plural(waiting, 'file')} waiting; the oldest upload began ${formatAge(oldest_at)}`
}
