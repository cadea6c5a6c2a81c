import { setTimeout as sleep } from 'node:timers/promises'
import { escapeControls } from '@shoal/core/text'
import type { AuditEntry } from '@shoal/protocol'
import { auditActions } from '@shoal/protocol/audit-actions'
import type { Admin } from '@shoal/registry'
import { Command, Option } from 'commander'
import type { Context, OpenContext } from '../context.ts'
import { addDataOption, type DataOption } from '../server/server-options.ts'
import { withAdmin } from '../server/with-admin.ts'
import { wholeNumberParser } from '../terminal/units.ts'

type AuditOptions = DataOption & {
  limit: number
  actor?: string
  subject?: string
  action?: string
  follow?: boolean
}

const pollMs = 1000
const maxLimit = 500

export function auditCommand(open: OpenContext): Command {
  const audit = new Command('audit').description(
    'show the audit log: sign-ins, deletions, changes to keys and roles, and more',
  )
  return addDataOption(audit)
    .addOption(
      new Option('--limit <number>', 'number of entries, up to 500')
        .argParser(wholeNumberParser(1, maxLimit))
        .default(50),
    )
    .option('--actor <username>', 'only actions by this account')
    .option('--subject <name>', 'only actions that affected this account, model or file')
    .addOption(
      new Option('--action <action>', 'only this action, for example model.deleted').choices(
        auditActions,
      ),
    )
    .option(
      '--follow',
      'show new entries as they are written; with --json, each entry is a JSON document on one line',
    )
    .action((options: AuditOptions) =>
      withAdmin(open, options, (admin, context) => showAudit(admin, context, options)),
    )
}

async function showAudit(
  { users }: Admin,
  { printer, takeStopSignal }: Context,
  { limit, actor, subject, action, follow = false }: AuditOptions,
) {
  const filter = { actor, subject, action }
  const latest = (await users.audit({ ...filter, limit })).reverse()
  if (!follow) {
    await printer.answer(latest, () => latest.map(toLine))
    if (latest.length === 0) printer.note('No entries.')
    return
  }
  const show = (entries: AuditEntry[]) => {
    for (const entry of entries)
      printer.result(printer.isJson ? escapeControls(JSON.stringify(entry)) : toLine(entry))
  }
  const signal = takeStopSignal()
  let after = latest.at(-1)?.seq ?? 0
  show(latest)
  while (!signal.aborted) {
    const entries = await users.audit({ ...filter, after, limit: maxLimit })
    after = entries.at(-1)?.seq ?? after
    show(entries)
    if (entries.length < maxLimit) await sleep(pollMs, undefined, { signal }).catch(ignoreAbort)
  }
}

function ignoreAbort(error: Error) {
  if (error.name !== 'AbortError') throw error
}

/** `2026-01-31 12:00:00  ana  key.revoked  user ben  {"id":"…"}  (session …, 10.0.0.5)` */
function toLine(entry: AuditEntry): string {
  const { at, actor, action, subject_kind, subject, detail, credential, address } = entry
  const changed = Object.keys(detail).length === 0 ? '' : ` ${JSON.stringify(detail)}`
  const origin = address === null ? 'this host' : `${credential}, ${address}`
  const time = at.slice(0, 19).replace('T', ' ')
  return [
    time,
    actor ?? 'administrator',
    action,
    `${subject_kind} ${subject}${changed}`,
    `(${origin})`,
  ].join('  ')
}
