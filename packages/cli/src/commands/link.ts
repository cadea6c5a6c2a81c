import { shellWord } from '@shoal/core/references'
import { ApiError } from '@shoal/protocol/client'
import { Command, Option } from 'commander'
import type { OpenContext, Registry } from '../context.ts'
import { getModelWithFiles } from '../models/find-model.ts'
import { pickFile } from '../models/pick-file.ts'

type LinkOptions = { magnet?: boolean; direct?: boolean }

export function linkCommand(open: OpenContext): Command {
  return new Command('link')
    .description("print the URL of a model's torrent file")
    .argument('<model[:quant]>', 'model name, optionally with a quantization')
    .option('--magnet', 'print the magnet link instead')
    .addOption(
      new Option(
        '--direct',
        'print a download URL for the GGUF file instead (valid for one day)',
      ).conflicts('magnet'),
    )
    .action(async (reference: string, options: LinkOptions) => {
      const context = await open()
      const { printer, environment } = context
      const found = await getModelWithFiles(context, reference)
      const { model, registry } = found
      const { choice, reason } = pickFile(found, environment.memoryBytes)
      printer.note(`${printer.err.bold(model.name)}:${choice.label}${reason ? `  ${reason}` : ''}`)
      if (options.magnet && !(await isOpen(registry, model.name))) {
        printer.warn(
          `Few clients can start from this magnet link, because ${model.name} is not public: the registry provides the metadata only in the torrent.`,
        )
        printer.note(`  To print the torrent's URL: shoal link ${shellWord(reference)}`)
      }
      const links = await Promise.all(
        choice.files.map(({ id }) => registry.client.getDownload(model.name, id)),
      )
      await printer.answer({ model: model.name, quantization: choice.label, files: links }, () =>
        links.map(({ torrent_url, magnet_uri, direct_url }) =>
          options.magnet ? magnet_uri : options.direct ? direct_url : torrent_url,
        ),
      )
    })
}

/** Whether anyone can read the model without signing in. If so, the registry's metadata peer serves its files. */
async function isOpen({ client }: Registry, name: string): Promise<boolean> {
  try {
    await client.with({ token: undefined }).getModel(name)
    return true
  } catch (error) {
    if (error instanceof ApiError && [401, 403, 404].includes(error.status)) return false
    throw error
  }
}
