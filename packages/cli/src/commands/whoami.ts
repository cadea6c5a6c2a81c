import { Command } from 'commander'
import type { OpenContext } from '../context.ts'

export function whoamiCommand(open: OpenContext): Command {
  return new Command('whoami').description('show who is signed in').action(async () => {
    const { printer, openRegistry } = await open()
    const { client, address } = await openRegistry()
    const user = await client.getMe()
    await printer.answer({ ...user, registry: address }, () => user.username)
  })
}
