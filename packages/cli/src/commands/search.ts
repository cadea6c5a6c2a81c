import { parseSize } from '@shoal/core/units'
import { memoryOfMachine } from '@shoal/model-file/choices'
import type { Model, ModelFilter } from '@shoal/protocol/client'
import { Command, Option } from 'commander'
import { keepKnownModels } from '../completion/known-models.ts'
import type { OpenContext } from '../context.ts'
import { misuse } from '../terminal/failure.ts'
import { oneOf } from '../terminal/one-of.ts'
import { repeatable } from '../terminal/repeatable.ts'
import { type Column, table } from '../terminal/table.ts'
import { toTerminalLine } from '../terminal/terminal-text.ts'
import { formatBytes, formatContext, formatCount, wholeNumberParser } from '../terminal/units.ts'

type SearchOptions = {
  arch?: string
  tag?: string[]
  owner?: string
  license?: string
  fits?: number
  sort?: 'downloads' | 'likes' | 'created_at' | 'relevance'
  limit: number
}

export function searchCommand(open: OpenContext): Command {
  return new Command('search')
    .description('look for models on the registry')
    .argument('[words...]', 'words of the name, the description or the tags')
    .option('--arch <architecture>', 'of this architecture, such as llama')
    .addOption(repeatable('--tag <tag>', 'with this tag; repeat it for several'))
    .option('--owner <username>', 'published by this account')
    .option('--license <license>', 'under this license')
    .addOption(
      new Option('--fits <GB>', 'that run on a machine with so much memory').argParser(
        parseGigabytes,
      ),
    )
    .addOption(
      oneOf('--sort <key>', 'what comes first (default: downloads)', [
        'downloads',
        'likes',
        'created_at',
        'relevance',
      ]),
    )
    .option('--limit <number>', 'at most so many', wholeNumberParser(1, 200), 20)
    .action(async (words: string[], options: SearchOptions) => {
      const { printer, places, openRegistry } = await open()
      const { client, address, label } = await openRegistry()
      const { models, total, isTotalExact } = await client.listModels(toFilter(words, options))
      await printer.answer(models, () =>
        models.length === 0
          ? []
          : table(columns, models, {
              columns: printer.columns,
              paintTitle: printer.out.dim,
            }),
      )
      await keepKnownModels(places, address, models)
      if (models.length === 0) printer.note(`Nothing in the net on ${label}.`)
      if (models.length < total) {
        const count = isTotalExact ? `${total}` : `more than ${total}`
        printer.note(`\nThese are ${models.length} of ${count}. --limit shows more.`)
      }
    })
}

function toFilter(words: readonly string[], options: SearchOptions): ModelFilter {
  const { arch, tag, owner, license, fits, sort, limit } = options
  const q = words.join(' ').trim()
  return {
    limit,
    ...(q !== '' && { q }),
    ...(sort && { sort }),
    ...(arch && { architecture: arch }),
    ...(tag && { tag }),
    ...(owner && { owner }),
    ...(license && { license }),
    ...(fits && { max_memory_bytes: memoryOfMachine(fits) }),
  }
}

function parseGigabytes(text: string): number {
  const bytes = parseSize(text, 'GB') ?? 0
  if (bytes >= 1) return bytes / 1e9
  throw misuse(`“${text}” is not an amount of memory in GB.`)
}

const columns: Column<Model>[] = [
  { title: 'MODEL', text: ({ name }) => name },
  { title: 'PARAMS', text: makeCountFormatter('parameter_count'), align: 'right' },
  {
    title: 'ARCH',
    text: ({ architecture }) => toTerminalLine(architecture ?? '–'),
    isOptional: true,
  },
  {
    title: 'CONTEXT',
    text: ({ context_length }) => (context_length ? formatContext(context_length) : '–'),
    align: 'right',
    isOptional: true,
  },
  {
    title: 'FROM',
    text: ({ min_file_size_bytes: bytes }) => (bytes === null ? '–' : formatBytes(bytes)),
    align: 'right',
  },
  { title: 'PULLS', text: makeCountFormatter('downloads'), align: 'right' },
  { title: 'LIKES', text: makeCountFormatter('likes'), align: 'right', isOptional: true },
  { title: 'LICENSE', text: ({ license }) => toTerminalLine(license ?? '–'), isOptional: true },
]

function makeCountFormatter(key: 'parameter_count' | 'downloads' | 'likes') {
  return (model: Model) => {
    const count = model[key]
    return count === null ? '–' : formatCount(count)
  }
}
