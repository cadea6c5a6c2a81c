import { Command } from 'commander'
import type { OpenContext } from '../context.ts'
import { openModel } from '../models/open-model.ts'

export function likeCommand(open: OpenContext): Command {
  return new Command('like')
    .description('like a model')
    .argument('<model>', 'model name')
    .action((reference: string) => setLike(open, reference, true))
}

export function unlikeCommand(open: OpenContext): Command {
  return new Command('unlike')
    .description('remove your like from a model')
    .argument('<model>', 'model name')
    .action((reference: string) => setLike(open, reference, false))
}

async function setLike(open: OpenContext, text: string, liked: boolean) {
  const context = await open()
  const { printer } = context
  const { name, call } = await openModel(context, text)
  await call((client) => client.setLike(name, liked))
  printer.success(liked ? `You like ${name}.` : `You no longer like ${name}.`)
  await printer.answer({ model: name, liked }, () => [])
}
