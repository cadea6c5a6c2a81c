import type { Member } from '@shoal/protocol'
import { Command } from 'commander'
import type { OpenContext } from '../context.ts'
import { openModel } from '../models/open-model.ts'
import { misuse } from '../terminal/failure.ts'
import { printList } from '../terminal/print-list.ts'
import type { Column } from '../terminal/table.ts'
import { toTerminalLine } from '../terminal/terminal-text.ts'

/** Commands for sharing private models. */
export function membersCommand(open: OpenContext): Command {
  const members = new Command('members').description('share a private model with other accounts')
  const add = (name: string, description: string) =>
    members.command(name).description(description).argument('<model>', 'model name')

  add('ls', 'list the members of a model').action(async (text: string) => {
    const context = await open()
    const { printer } = context
    const { name, call } = await openModel(context, text)
    const all = await call((client) => client.listMembers(name))
    await printList(printer, all, { columns, none: `${name} has no members.` })
  })

  add('set', 'let an account read or write a model')
    .argument('<username>', 'username of the account')
    .argument('<right>', 'read or write')
    .action(async (text: string, username: string, right: string) => {
      if (right !== 'read' && right !== 'write') {
        throw misuse(`Unknown right ${toTerminalLine(right)}.`, 'Expected read or write.')
      }
      const context = await open()
      const { printer } = context
      const { name, call } = await openModel(context, text)
      const member = await call((client) => client.setMember(name, username, right))
      printer.success(`${member.username} can ${right} ${name}.`)
      await printer.answer(member, () => [])
    })

  add('remove', 'remove a member from a model')
    .argument('<username>', 'username of the account')
    .action(async (text: string, username: string) => {
      const context = await open()
      const { printer } = context
      const { name, call } = await openModel(context, text)
      await call((client) => client.removeMember(name, username))
      printer.success(`${username} is no longer a member of ${name}.`)
      await printer.answer({ model: name, username }, () => [])
    })

  return members
}

/** The command that makes another account the owner of a model. */
export function transferCommand(open: OpenContext): Command {
  return new Command('transfer')
    .description('make another account the owner of a model (administrators only)')
    .argument('<model>', 'model name')
    .argument('<username>', 'username of the new owner')
    .action(async (text: string, username: string) => {
      const context = await open()
      const { printer, asker } = context
      const { name, call } = await openModel(context, text)
      await asker.confirm(`Make ${username} the owner of ${name}?`)
      await call((client) => client.transferModel(name, username))
      printer.success(`${username} owns ${name}.`)
      await printer.answer({ model: name, owner: username }, () => [])
    })
}

const columns: Column<Member>[] = [
  { title: 'USERNAME', text: ({ username }) => username },
  { title: 'RIGHT', text: ({ right }) => right },
  { title: 'SINCE', text: ({ created_at }) => created_at.slice(0, 10) },
]
