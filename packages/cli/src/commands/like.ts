import { Command } from 'commander'
import type { OpenContext } from '../context.ts'
import { namingNeighbours } from '../models/find-model.ts'
import { readReference } from '../models/reference.ts'

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
  const { printer, openRegistry } = await open()
  const { registry: host, name } = readReference(text)
  const registry = await openRegistry(host)
  await namingNeighbours(registry, name, () => registry.client.setLike(name, liked))
  printer.success(liked ? `You like ${name}.` : `You no longer like ${name}.`)
  await printer.answer({ model: name, liked }, () => [])
}
