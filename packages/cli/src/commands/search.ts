import { parseSize } from '@shoal/core/units'
import { memoryOfMachine } from '@shoal/model-file/choices'
import type { Model, ModelFilter } from '@shoal/protocol/client'
import { Command, Option } from 'commander'
import { keepKnownModels } from '../completion/known-models.ts'
import type { OpenContext } from '../context.ts'
import { misuse } from '../terminal/failure.ts'
import { oneOf } from '../terminal/one-of.ts'
import { printList } from '../terminal/print-list.ts'
import { repeatable } from '../terminal/repeatable.ts'
import type { Column } from '../terminal/table.ts'
import { formatBytes, formatContext, formatCount, wholeNumberParser } from '../terminal/units.ts'

type SearchOptions = {
  arch?: string
  tag?: string[]
  owner?: string
  license?: string
  fits?: number
  contextLength?: number
  sort?: 'downloads' | 'likes' | 'created_at' | 'relevance'
  limit: number
}

export function searchCommand(open: OpenContext): Command {
  return new Command('search')
    .description('search for models in the registry')
    .argument('[words...]', 'words to search for in names, descriptions and tags')
    .option('--arch <architecture>', 'model architecture, such as llama')
    .addOption(repeatable('--tag <tag>', 'tag that the models must have; repeatable'))
    .option('--owner <username>', 'account that owns the model')
    .option('--license <license>', 'license, such as apache-2.0')
    .addOption(
      new Option(
        '--fits <GB>',
        'only models that run on a machine with this much memory, in GB',
      ).argParser(parseGigabytes),
    )
    .option(
      '--context-length <tokens>',
      'context length for --fits, in tokens (default: 8192)',
      wholeNumberParser(1, Number.MAX_SAFE_INTEGER),
    )
    .addOption(
      oneOf(
        '--sort <key>',
        'sort order (default: relevance if words are given, otherwise downloads)',
        ['downloads', 'likes', 'created_at', 'relevance'],
      ),
    )
    .option(
      '--limit <number>',
      'maximum number of results, from 1 to 200',
      wholeNumberParser(1, 200),
      20,
    )
    .action(async (words: string[], options: SearchOptions) => {
      if (options.contextLength && !options.fits) {
        throw misuse('--context-length has no effect without --fits.')
      }
      const { printer, places, openRegistry } = await open()
      const { client, address, label } = await openRegistry()
      const { models, total, isTotalExact } = await client.listModels(toFilter(words, options))
      await printList(printer, models, { columns, width: printer.columns })
      await keepKnownModels(places, address, models)
      if (models.length === 0) printer.note(`No models found on ${label}.`)
      if (models.length < total) {
        const count = isTotalExact ? `${total}` : `more than ${total}`
        printer.note('')
        printer.note(`Showing ${models.length} of ${count}. To show more, pass a higher --limit.`)
      }
    })
}

function toFilter(words: readonly string[], options: SearchOptions): ModelFilter {
  const { arch, tag, owner, license, fits, contextLength, sort, limit } = options
  const q = words.join(' ').trim()
  return {
    limit,
    ...(q !== '' && { q }),
    sort: sort ?? (q === '' ? 'downloads' : 'relevance'),
    ...(arch && { architecture: arch }),
    ...(tag && { tag }),
    ...(owner && { owner }),
    ...(license && { license }),
    ...(fits && { max_memory_bytes: memoryOfMachine(fits) }),
    ...(contextLength && { context_length: contextLength }),
  }
}

function parseGigabytes(text: string): number {
  const bytes = parseSize(text, 'GB') ?? 0
  if (bytes >= 1) return bytes / 1e9
  throw misuse(`“${text}” is not a valid amount of memory. Examples: 16 (in GB), 512MB.`)
}

const columns: Column<Model>[] = [
  { title: 'MODEL', text: ({ name }) => name },
  { title: 'PARAMS', text: makeCountFormatter('parameter_count'), align: 'right' },
  {
    title: 'ARCH',
    text: ({ architecture }) => architecture ?? '–',
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
  { title: 'DOWNLOADS', text: makeCountFormatter('downloads'), align: 'right' },
  { title: 'LIKES', text: makeCountFormatter('likes'), align: 'right', isOptional: true },
  { title: 'LICENSE', text: ({ license }) => license ?? '–', isOptional: true },
]

function makeCountFormatter(key: 'parameter_count' | 'downloads' | 'likes') {
  return (model: Model) => {
    const count = model[key]
    return count === null ? '–' : formatCount(count)
  }
}
