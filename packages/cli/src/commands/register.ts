import { ApiError, type RegistryClient } from '@shoal/protocol/client'
import { Command } from 'commander'
import type { Context, OpenContext } from '../context.ts'
import { saveCredential } from '../settings/credentials.ts'
import { readSecretFromStdin } from '../terminal/asker.ts'
import { Failure, misuse } from '../terminal/failure.ts'

type RegisterOptions = {
  username?: string
  email?: string
  passwordStdin?: boolean
  setupCode?: string
  invitation?: string
}

export function registerCommand(open: OpenContext): Command {
  return new Command('register')
    .description('create an account and sign in')
    .option(
      '--username <name>',
      'username of 2 to 64 characters: lowercase letters, digits, hyphens or underscores',
    )
    .option('--email <address>', 'email address at which administrators can contact you')
    .option('--password-stdin', 'read the password from stdin')
    .option(
      '--setup-code <code>',
      'setup code, which a new registry prints, for creating the first account',
    )
    .option(
      '--invitation <link>',
      'invitation link from an administrator, or only the secret in the link',
    )
    .action(async (options: RegisterOptions) => {
      const context = await open()
      const { printer, places, openRegistry } = context
      const { client, address, label } = await openRegistry()
      if (!options.invitation) await requireOpenRegistration(client, label)
      const account = await askForAccount(context, options)
      const signedIn = await client.register(account).catch(async (error: unknown) => {
        const needsCode = error instanceof ApiError && error.problem.code === 'setup_code_required'
        // The user is not prompted for another setup code if the one in `--setup-code` was wrong.
        if (!needsCode || options.setupCode) throw error
        return client.register({ ...account, setup_code: await askForSetupCode(context) })
      })
      const { access_token: token, expires_at, user } = signedIn
      await saveCredential(places, address, { token, username: user.username, expires_at })
      printer.success(`Created the account ${user.username} on ${label} and signed in.`)
      if (user.is_admin) printer.note('  This account is an administrator.')
      await printer.answer({ registry: address, ...user, expires_at }, () => [])
    })
}

/** Throws if registration is closed, before the user has typed a username and a password. */
async function requireOpenRegistration(client: RegistryClient, label: string) {
  try {
    if ((await client.getRegistry()).registration_open) return
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return // a registry of version 0.1
    throw error
  }
  throw new Failure('not_permitted', `Registration on ${label} is closed.`, {
    hint: 'Ask an administrator for an invitation, then run: shoal register --invitation <link>',
    details: { reason: 'registration_closed' },
  })
}

async function askForAccount({ asker, environment }: Context, options: RegisterOptions) {
  if (options.passwordStdin && !options.username) {
    throw misuse('--password-stdin requires --username.')
  }
  const username =
    options.username ??
    (await asker.text({ message: 'Username', instead: 'Pass --username and --password-stdin.' }))
  const password = options.passwordStdin
    ? await readSecretFromStdin(environment, 'password')
    : await askForNewPassword(asker)
  return {
    username,
    password,
    ...(options.email && { email: options.email }),
    ...(options.setupCode && { setup_code: options.setupCode }),
    ...(options.invitation && { invitation: secretOf(options.invitation) }),
  }
}

async function askForNewPassword(asker: Context['asker']): Promise<string> {
  const instead = 'Pass --password-stdin.'
  const password = await asker.secret({
    message: 'Password',
    instead,
    validate: (typed) => (Buffer.byteLength(typed) < 8 ? 'Use at least 8 characters.' : undefined),
  })
  await asker.secret({
    message: 'Repeat the password',
    instead,
    validate: (typed) => (typed === password ? undefined : 'The passwords do not match.'),
  })
  return password
}

function askForSetupCode({ asker, printer }: Context): Promise<string> {
  printer.note(
    '  The first account needs the setup code that the registry printed when it started.',
  )
  return asker.text({ message: 'Setup code', instead: 'Pass --setup-code.' })
}

/** The secret in an invitation link such as `https://models.example.org/register#invitation=shi_…`. */
const secretOf = (link: string): string => link.trim().replace(/^.*#invitation=/, '')
