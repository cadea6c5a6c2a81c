import type { StoreDescription } from '@shoal/registry'
import { Command } from 'commander'
import type { OpenContext } from '../context.ts'
import { addDataOption, type DataOption } from '../server/server-options.ts'
import { withAdmin } from '../server/with-admin.ts'
import { formatBytes } from '../terminal/units.ts'

type StoreOptions = DataOption & { configure?: boolean }

export function storeCommand(open: OpenContext): Command {
  const store = addDataOption(new Command('store'))
    .description('describe the store, and check what an S3 store supports')
    .option('--configure', "add shoal's CORS and lifecycle rules to the S3 bucket")
  return store.action(async (options: StoreOptions) => {
    await withAdmin(open, options, async (admin, { printer, asker }) => {
      const isConfigured = options.configure === true
      if (isConfigured)
        await asker.confirm(
          "Add shoal's CORS and lifecycle rules to the S3 bucket? The bucket's other rules are kept.",
        )
      const described = await admin.describeStore(isConfigured)
      await printer.answer(described, () => formatStore(described))
      if (described.kind === 's3' && !(described.found.cors && described.found.lifecycle)) {
        printer.note('To add these rules to the bucket: shoal admin store --configure')
      }
    })
  })
}

function formatStore(store: StoreDescription): string[] {
  if (store.kind === 'disk') return formatDisk(store)
  const { bucket, endpoint, public_endpoint, prefix, support, rules, found } = store
  const others = public_endpoint === endpoint ? '' : ` (clients use ${public_endpoint})`
  return [
    `S3 bucket ${bucket} at ${endpoint}${others}; object names begin with "${prefix}"`,
    `rejects damaged chunks: ${support.refusesWrongBytes ? 'yes' : 'no; shoal detects them before a file becomes ready'}`,
    `serves single chunks of objects: ${support.servesParts ? 'yes' : 'no; the registry serves them'}`,
    ...formatRule('CORS rule', rules.cors, found.cors),
    ...formatRule('lifecycle rule', rules.lifecycle, found.lifecycle),
  ]
}

/**
 * Returns lines that state whether the bucket has the rule. If it does not, the lines include the rule's JSON, so that
 * an administrator can add the rule.
 */
function formatRule(title: string, rule: object, isFound: boolean): string[] {
  return isFound ? [`${title}: found`] : [`${title}: missing`, JSON.stringify(rule, undefined, 2)]
}

function formatDisk({ space }: Extract<StoreDescription, { kind: 'disk' }>): string[] {
  if (space === 'unlimited') return ['a folder on this machine, with unlimited space']
  const { freeBytes, reserveBytes, awaitedBytes } = space
  return [
    `a folder on this machine: ${formatBytes(freeBytes)} free`,
    `${formatBytes(awaitedBytes)} reserved for open uploads, ${formatBytes(reserveBytes)} kept free`,
  ]
}
