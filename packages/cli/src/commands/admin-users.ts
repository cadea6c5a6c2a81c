/** Commands that administer accounts, invitations and API keys on the registry's host. */
import { parseSize } from '@shoal/core/units'
import type { AdminUser, ApiKey, Invitation } from '@shoal/protocol'
import { type Command, Option } from 'commander'
import type { Context, OpenContext } from '../context.ts'
import { type DataOption, dataCommands } from '../server/server-options.ts'
import { withAdmin } from '../server/with-admin.ts'
import { Failure, misuse } from '../terminal/failure.ts'
import { printList } from '../terminal/print-list.ts'
import { type Column, table } from '../terminal/table.ts'
import { formatBytes, plural, toMinute } from '../terminal/units.ts'

type RoleOption = DataOption & { role: 'admin' | 'user' }
type RemoveOptions = DataOption & { giveTo?: string; deleteModels?: boolean }

export function addUserCommands(admin: Command, open: OpenContext) {
  const add = dataCommands(admin)
  const forUser = (name: string, description: string) =>
    add(name, description).argument('<username>', 'username of the account')
  const role = () =>
    new Option('--role <role>', 'role of the new account')
      .choices(['admin', 'user'])
      .default('user')

  add('users', 'list all accounts').action((options: DataOption) =>
    withAdmin(open, options, async ({ users }, { printer }) => {
      const all = await users.list()
      await printer.answer(all, () => table(userColumns, all, { paintTitle: printer.out.dim }))
    }),
  )

  forUser('add', 'create an account with a random password')
    .option('--email <address>', 'email address')
    .addOption(role())
    .action((username: string, options: RoleOption & { email?: string }) =>
      withAdmin(open, options, async ({ users }, { printer }) => {
        const { email, role: newRole } = options
        const created = await users.create({ username, role: newRole, ...(email && { email }) })
        if (created.user.role !== newRole) {
          printer.note(`${username} is the first account, and therefore an administrator.`)
        }
        printer.note(`Password for ${username} (you won't be able to see it again):`)
        await printer.answer(created, () => created.password)
      }),
    )

  add('invite', 'create an invitation that lets one person register')
    .option('--note <text>', "note for administrators, such as the invited person's name")
    .addOption(role())
    .action((options: RoleOption & { note?: string }) =>
      withAdmin(open, options, async ({ users }, { printer }) => {
        const { note, role: newRole } = options
        const created = await users.invite({ role: newRole, ...(note && { note }) })
        printer.note(
          `Invitation for one registration, valid until ${toMinute(created.expires_at)} (you won't be able to see it again):`,
        )
        if (created.url === undefined) {
          printer.note(
            "  Append this path to the registry's base URL, and open the resulting URL in a browser:",
          )
        }
        const place = created.url ?? `/register#invitation=${created.token}`
        await printer.answer(created, () => place)
      }),
    )

  add('invitations', 'list invitations, or revoke one')
    .option('--revoke <id>', 'ID of the invitation to revoke')
    .action((options: DataOption & { revoke?: string }) =>
      withAdmin(open, options, async ({ users }, { printer }) => {
        if (options.revoke !== undefined) {
          await users.revokeInvitation(options.revoke)
          printer.success('Invitation revoked.')
          return
        }
        await printList(printer, await users.listInvitations(), {
          columns: invitationColumns,
          none: 'No invitations. Create one with: shoal admin invite',
        })
      }),
    )

  forUser('disable', 'end all sessions of an account, and refuse its sign-ins and API keys').action(
    (username: string, options: DataOption) =>
      change(open, options, { username, changes: { is_disabled: true }, done: 'is disabled' }),
  )

  forUser('enable', 'let a disabled account sign in and use its API keys again').action(
    (username: string, options: DataOption) =>
      change(open, options, { username, changes: { is_disabled: false }, done: 'is enabled' }),
  )

  forUser('role', 'make an account an administrator or a regular user')
    .argument('<role>', 'admin or user')
    .action((username: string, wanted: string, options: DataOption) => {
      if (wanted !== 'admin' && wanted !== 'user') {
        throw misuse(`Unknown role ${wanted}.`, 'Expected admin or user.')
      }
      const done = wanted === 'admin' ? 'is an administrator' : 'is a regular user'
      return change(open, options, { username, changes: { role: wanted }, done })
    })

  forUser('quota', 'limit the bytes that an account may store')
    .argument('<size>', 'size such as 500GB, or “default” for the value of SHOAL_QUOTA')
    .action((username: string, size: string, options: DataOption) => {
      const bytes = size === 'default' ? null : readQuota(size)
      const done = bytes === null ? 'has the default quota' : `may store ${formatBytes(bytes)}`
      return change(open, options, { username, changes: { own_quota_bytes: bytes }, done })
    })

  forUser('keys', 'list the API keys of an account, or revoke one')
    .option('--revoke <id>', 'ID of the API key to revoke')
    .action((username: string, options: DataOption & { revoke?: string }) =>
      withAdmin(open, options, async ({ users }, { printer }) => {
        if (options.revoke !== undefined) {
          await users.revokeKey(username, options.revoke)
          printer.success('API key revoked.')
          return
        }
        await printList(printer, await users.listKeys(username), {
          columns: keyColumns,
          none: `${username} has no API keys.`,
        })
      }),
    )

  forUser('remove', 'remove an account; its username cannot be taken again')
    .option('--give-to <username>', 'new owner of the models of the removed account')
    .option('--delete-models', 'delete the models of the removed account')
    .action((username: string, options: RemoveOptions) =>
      withAdmin(open, options, async ({ users }, context) =>
        removeUser(users, context, username, options),
      ),
    )

  forUser(
    'reset-password',
    'generate a new password for an account, end its sessions and revoke its API keys',
  ).action((username: string, options: DataOption) =>
    withAdmin(open, options, async ({ users }, { printer, asker }) => {
      if (asker.canAsk)
        await asker.confirm(
          `Set a new password for the account ${username}, end all of its sessions, and revoke all of its API keys?`,
        )
      const reset = await users.resetPassword(username)
      const { sessions_ended, keys_revoked, password } = reset
      printer.note(
        `${plural(sessions_ended, 'session')} ended, ${plural(keys_revoked, 'API key')} revoked.`,
      )
      printer.note(`New password for ${username} (you won't be able to see it again):`)
      await printer.answer({ username, ...reset }, () => password)
    }),
  )
}

type Users = Parameters<Parameters<typeof withAdmin>[2]>[0]['users']
type Change = { username: string; changes: Parameters<Users['change']>[1]; done: string }

function change(open: OpenContext, options: DataOption, { username, changes, done }: Change) {
  return withAdmin(open, options, async ({ users }, { printer }) => {
    const user = await users.change(username, changes)
    printer.success(`${user.username} ${done}.`)
    await printer.answer(user, () => [])
  })
}

async function removeUser(
  users: Users,
  { printer, asker }: Context,
  username: string,
  { giveTo, deleteModels = false }: RemoveOptions,
) {
  const { usage } = await users.get(username)
  const models = plural(usage.models_count, 'model')
  const it = usage.models_count === 1 ? 'it' : 'them'
  if (usage.models_count > 0 && giveTo === undefined && !deleteModels) {
    throw new Failure('failed', `${username} owns ${models}.`, {
      hint: `Pass --give-to <username> to give ${it} to another account, or --delete-models to delete ${it}.`,
    })
  }
  const fate =
    usage.models_count === 0
      ? ''
      : giveTo === undefined
        ? `, and delete its ${models} (${formatBytes(usage.stored_bytes)})`
        : `, and give its ${models} to ${giveTo}`
  await asker.confirm(`Remove the account ${username}${fate}?`)
  await users.remove(username, { ...(giveTo && { give_to: giveTo }), delete_models: deleteModels })
  printer.success(`${username} was removed.`)
}

function readQuota(size: string): number {
  const bytes = size === '0' ? 0 : parseSize(size)
  if (bytes !== undefined) return bytes
  throw misuse(`Invalid size ${size}.`, 'Expected a size such as 500GB, or “default”.')
}

const userColumns: Column<AdminUser>[] = [
  { title: 'USERNAME', text: ({ username }) => username },
  { title: 'EMAIL', text: ({ email }) => email ?? '–' },
  { title: 'ROLE', text: ({ role }) => role },
  { title: 'STATUS', text: ({ disabled_at }) => (disabled_at === null ? 'active' : 'disabled') },
  { title: 'MODELS', text: ({ usage }) => String(usage.models_count), align: 'right' },
  { title: 'STORED', text: ({ usage }) => formatBytes(usage.stored_bytes), align: 'right' },
  {
    title: 'QUOTA',
    text: ({ role, usage }) =>
      usage.quota_bytes === null || role === 'system' ? '–' : formatBytes(usage.quota_bytes),
    align: 'right',
  },
  { title: 'KEYS', text: ({ usage }) => String(usage.api_keys_count), align: 'right' },
  { title: 'LAST USED', text: ({ last_used_at }) => toMinute(last_used_at) },
  { title: 'SINCE', text: ({ created_at }) => created_at.slice(0, 10) },
]

const invitationColumns: Column<Invitation>[] = [
  { title: 'ID', text: ({ id }) => id },
  { title: 'NOTE', text: ({ note }) => note ?? '–' },
  { title: 'ROLE', text: ({ role }) => role },
  { title: 'BY', text: ({ created_by }) => created_by ?? 'this host' },
  { title: 'EXPIRES', text: ({ expires_at }) => toMinute(expires_at) },
  { title: 'USED BY', text: ({ used_by }) => used_by ?? '–' },
]

const keyColumns: Column<ApiKey>[] = [
  { title: 'ID', text: ({ id }) => id },
  { title: 'NAME', text: ({ name }) => name },
  { title: 'SCOPES', text: ({ scopes }) => scopes.join(',') },
  { title: 'LAST USED', text: ({ last_used_at }) => toMinute(last_used_at) },
  { title: 'EXPIRES', text: ({ expires_at }) => toMinute(expires_at) },
]
