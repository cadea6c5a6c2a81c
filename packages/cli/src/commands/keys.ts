import type { ApiKey } from '@shoal/protocol/client'
import { Command } from 'commander'
import type { OpenContext } from '../context.ts'
import { Failure, misuse } from '../terminal/failure.ts'
import { type Column, table } from '../terminal/table.ts'
import { toTerminalLine } from '../terminal/terminal-text.ts'
import { formatAge, parseLifetime } from '../terminal/units.ts'

const scopes = ['read', 'write', 'admin'] as const
type Scope = (typeof scopes)[number]

export function keysCommand(open: OpenContext): Command {
  const keys = new Command('keys').description('API keys for programs')

  keys
    .command('ls')
    .description('your keys')
    .action(async () => {
      const { printer, openRegistry } = await open()
      const { client } = await openRegistry()
      const all = await client.listApiKeys()
      await printer.answer(all, () =>
        all.length === 0 ? [] : table(columns, all, { paintTitle: printer.out.dim }),
      )
      if (all.length === 0) printer.note('No keys yet. Make one with shoal keys new <name>.')
    })

  keys
    .command('new <name>')
    .description('make a key; it alone goes to stdout, this once')
    .option('--scope <scopes>', 'what it may do: read, write, admin', 'read,write')
    .option('--expires <time>', 'when it ends: 12h, 90d, 1y or never', '90d')
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
      printer.note(`Key ${name} for ${label}: ${wanted.join(', ')}, ${formatExpiry(key)}.`)
      printer.note(
        'It is shown this once. Another machine signs in with: shoal login --token-stdin',
      )
      await printer.answer(key, () => key.key)
    })

  keys
    .command('revoke <name>')
    .description('end a key at once, by its name or id')
    .action(async (name: string) => {
      const { printer, asker, openRegistry } = await open()
      const { client } = await openRegistry()
      const key = getKey(await client.listApiKeys(), name)
      await asker.confirm(
        `Revoke the key ${key.name} (${key.prefix}…)? What uses it stops working.`,
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
  throw misuse(`There is no scope called “${unknown}”.`, `There are ${scopes.join(', ')}.`)
}

function getKey(keys: readonly ApiKey[], wanted: string): ApiKey {
  const found = keys.filter(({ id, name }) => id === wanted || name === wanted)
  const [key] = found
  if (!key) {
    throw new Failure('not_found', `You have no key called “${wanted}”.`, {
      hint: 'shoal keys ls lists them.',
    })
  }
  if (found.length === 1) return key
  throw misuse(
    `${found.length} keys are called “${wanted}”.`,
    `Name one by its id: ${found.map(({ id }) => id).join(', ')}.`,
  )
}

const formatExpiry = ({ expires_at }: Pick<ApiKey, 'expires_at'>) =>
  expires_at === null ? 'without an end' : `until ${expires_at.slice(0, 10)}`

const columns: Column<ApiKey>[] = [
  { title: 'NAME', text: ({ name }) => toTerminalLine(name) },
  { title: 'KEY', text: ({ prefix }) => `${prefix}…` },
  { title: 'SCOPES', text: ({ scopes }) => scopes.join(', ') },
  {
    title: 'USED',
    text: ({ last_used_at: time }) => (time === null ? 'never' : formatAge(time)),
  },
  { title: 'ENDS', text: formatExpiry },
]
