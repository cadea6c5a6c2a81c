import type { LoadedModel } from '@shoal/protocol/inference-client'
import { Command } from 'commander'
import type { OpenContext } from '../context.ts'
import { findDaemonClient } from '../daemon/find-daemon.ts'
import { type InferenceOption, inferenceOption } from '../daemon/inference-option.ts'
import { formatLoadedTitle } from '../daemon/loaded-title.ts'
import { printList } from '../terminal/print-list.ts'
import type { Column } from '../terminal/table.ts'
import { formatBytes, formatSeconds, plural } from '../terminal/units.ts'

export function psCommand(open: OpenContext): Command {
  return new Command('ps')
    .description('list loaded models')
    .addOption(inferenceOption())
    .action(async ({ inference }: InferenceOption) => {
      const context = await open()
      const { printer } = context
      const client = await findDaemonClient(context, inference)
      const models = await client.listLoaded()
      await printList(printer, models, {
        columns,
        none: `No models are loaded at ${client.url}.`,
      })
    })
}

const columns: Column<LoadedModel>[] = [
  { title: 'MODEL', text: formatLoadedTitle },
  { title: 'SIZE', text: (one) => formatBytes(one.file_size_bytes), align: 'right' },
  { title: 'MEMORY', text: (one) => formatBytes(one.memory_bytes), align: 'right' },
  { title: 'CONTEXT', text: (one) => String(one.context_length), align: 'right' },
  { title: 'IDLE', text: formatIdle },
  {
    title: '',
    text: ({ preset }) => (preset ? `own settings: ${Object.keys(preset).join(', ')}` : ''),
  },
]

function formatIdle({ requests, idle_seconds }: LoadedModel): string {
  if (requests > 0 || idle_seconds === null) return plural(requests, 'request')
  return formatSeconds(idle_seconds)
}
