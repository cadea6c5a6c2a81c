import { ApiError } from '@shoal/protocol/client'
import { Command } from 'commander'
import type { Context, OpenContext } from '../context.ts'
import { saveCredential } from '../settings/credentials.ts'
import { readCliSetting } from '../settings/read-cli-setting.ts'
import { cliSettings } from '../settings/settings.ts'
import { readSecretFromStdin } from '../terminal/asker.ts'
import { Failure, misuse } from '../terminal/failure.ts'

type LoginOptions = { username?: string; passwordStdin?: boolean; tokenStdin?: boolean }

export function loginCommand(open: OpenContext): Command {
  return new Command('login')
    .description('sign in to the registry')
    .option('--username <name>', 'username of the account')
    .option('--password-stdin', 'read the password from stdin')
    .option('--token-stdin', 'read an API key from stdin and save it')
    .action(async (options: LoginOptions) => {
      const context = await open()
      const { config, printer, places } = context
      const signedIn = options.tokenStdin
        ? await signInWithToken(context)
        : await signInWithPassword(context, options)
      const { address, label, credential } = signedIn
      await saveCredential(places, address, credential)
      const { username } = credential
      printer.success(`Signed in to ${label} as ${username}.`)
      if (config.values.peers === undefined) {
        printer.note(
          '  While you pull or serve, peers with the same models can see your IP address.',
        )
        printer.note('  To hide your IP address: shoal config set peers off')
      }
      if (readCliSetting(cliSettings.token, context.environment) !== undefined) {
        printer.warn(
          'SHOAL_TOKEN is set and takes precedence over this sign-in. To use the sign-in, unset SHOAL_TOKEN.',
        )
      }
      await printer.answer(
        { registry: address, username, expires_at: credential.expires_at },
        () => [],
      )
    })
}

async function signInWithToken({ environment, openRegistry }: Context) {
  const token = await readSecretFromStdin(environment, 'token')
  const { client, address, label } = await openRegistry(undefined, token)
  const { username } = await client.getMe()
  return { address, label, credential: { token, username, expires_at: null } }
}

async function signInWithPassword(context: Context, options: LoginOptions) {
  const { asker, environment, openRegistry } = context
  const { client, address, label } = await openRegistry()
  if (options.passwordStdin && !options.username) {
    throw misuse('--password-stdin requires --username.')
  }
  const username =
    options.username ??
    (await asker.text({
      message: 'Username',
      instead: 'Pass --username and --password-stdin, or --token-stdin.',
    }))
  const password = options.passwordStdin
    ? await readSecretFromStdin(environment, 'password')
    : await asker.secret({ message: 'Password', instead: 'Pass --password-stdin.' })
  const signedIn = await client.login({ username, password }).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.status !== 401) throw error
    throw new Failure('not_signed_in', `${label}: ${error.message}.`, {
      hint: error.problem.code ? undefined : 'Try again, or create an account with: shoal register',
      cause: error,
    })
  })
  const { access_token: token, expires_at, user } = signedIn
  return { address, label, credential: { token, username: user.username, expires_at } }
}
