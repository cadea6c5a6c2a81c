import { Gauge, type Registry } from 'prom-client'
import type { DownloadJournal } from './download-journal.ts'

export function journalMetrics(registry: Registry, journal: Pick<DownloadJournal, 'pendingCount'>) {
  new Gauge({
    name: 'shoal_download_journal_pending',
    help: 'Downloads counted in the journal but not yet in the database',
    registers: [registry],
    collect() {
      this.set(journal.pendingCount())
    },
  })
}
