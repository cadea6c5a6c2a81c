import type { ApiKey } from '@shoal/protocol/client'
import { Command } from 'commander'
import type { OpenContext } from '../context.ts'
import { Failure, misuse } from '../terminal/failure.ts'
import { printList } from '../terminal/print-list.ts'
import type { Column } from '../terminal/table.ts'
import { formatAge, parseLifetime } from '../terminal/units.ts'

const scopes = ['read', 'write', 'admin'] as const
type Scope = (typeof scopes)[number]

export function keysCommand(open: OpenContext): Command {
  const keys = new Command('keys').description('manage API keys')

  keys
    .command('ls')
    .description('list your API keys')
    .action(async () => {
      const { printer, openRegistry } = await open()
      const { client } = await openRegistry()
      await printList(printer, await client.listApiKeys(), {
        columns,
        none: 'No API keys yet. Create one with: shoal keys new <name>',
      })
    })

  keys
    .command('new <name>')
    .description('create an API key and print it on stdout')
    .option('--scope <scopes>', 'comma-separated scopes: read, write, admin', 'read,write')
    .option('--expires <time>', 'lifetime: a duration such as 12h, 90d or 1y, or never', '90d')
    .action(async (name: string, options: { scope: string; expires: string }) => {
      const { printer, openRegistry } = await open()
      const seconds = parseLifetime(options.expires)
      const expiresAt =
        seconds === undefined ? null : new Date(Date.now() + seconds * 1000).toISOString()
      const wanted = parseScopes(options.scope)
      const { client, label } = await openRegistry()
      const key = await client.createApiKey({
        name,
        scopes: wanted,
        expires_at: expiresAt,
      })
      printer.note(
        `API key ${name} for ${label}: ${wanted.join(', ')}, valid ${formatExpiry(key)}.`,
      )
      printer.note(
        "You won't be able to see this key again. To sign in with it on another machine: shoal login --token-stdin",
      )
      await printer.answer(key, () => key.key)
    })

  keys
    .command('revoke <name>')
    .description('revoke an API key by its name or ID')
    .action(async (name: string) => {
      const { printer, asker, openRegistry } = await open()
      const { client } = await openRegistry()
      const key = getKey(await client.listApiKeys(), name)
      await asker.confirm(
        `Revoke the API key ${key.name} (${key.prefix}…)? Programs that use it will stop working.`,
      )
      await client.deleteApiKey(key.id)
      printer.success(`Revoked ${key.name}.`)
      await printer.answer({ revoked: key.id }, () => [])
    })

  return keys
}

function parseScopes(text: string): Scope[] {
  const wanted = [...new Set(text.split(',').map((one) => one.trim()))]
  const unknown = wanted.find((one) => !scopes.some((scope) => scope === one))
  if (unknown === undefined) return wanted as Scope[]
  throw misuse(`Unknown scope “${unknown}”.`, `Valid scopes: ${scopes.join(', ')}.`)
}

function getKey(keys: readonly ApiKey[], wanted: string): ApiKey {
  const found = keys.filter(({ id, name }) => id === wanted || name === wanted)
  const [key] = found
  if (!key) {
    throw new Failure('not_found', `You have no API key called “${wanted}”.`, {
      hint: 'To list your keys: shoal keys ls',
    })
  }
  if (found.length === 1) return key
  throw misuse(
    `${found.length} API keys are called “${wanted}”.`,
    `Pass one of these IDs instead: ${found.map(({ id }) => id).join(', ')}.`,
  )
}

const formatExpiry = ({ expires_at }: Pick<ApiKey, 'expires_at'>) =>
  expires_at === null ? 'indefinitely' : `until ${expires_at.slice(0, 10)}`

const columns: Column<ApiKey>[] = [
  { title: 'NAME', text: ({ name }) => name },
  { title: 'KEY', text: ({ prefix }) => `${prefix}…` },
  { title: 'SCOPES', text: ({ scopes }) => scopes.join(', ') },
  {
    title: 'USED',
    text: ({ last_used_at: time }) => (time === null ? 'never' : formatAge(time)),
  },
  { title: 'VALID', text: formatExpiry },
]
