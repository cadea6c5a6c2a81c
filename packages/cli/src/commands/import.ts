import { homedir } from 'node:os'
import { hasCode } from '@shoal/core/errors'
import { isModelName, shellWord } from '@shoal/core/references'
import { isErrno, reasonOfErrno } from '@shoal/files'
import type { FoundFile, ImportedFile, ImportMethod, Skipped } from '@shoal/transfer'
import { Command } from 'commander'
import type { Context, OpenContext } from '../context.ts'
import { findModelFiles } from '../models/find-here.ts'
import { type FindTwin, lookUpTwins } from '../models/find-twins.ts'
import { Failure, misuse } from '../terminal/failure.ts'
import { formatBytes, plural } from '../terminal/units.ts'

type ImportOptions = { link?: boolean; copy?: boolean; name?: string; share?: boolean }

type Outcome = ImportedFile & { file: FoundFile }

export function importCommand(open: OpenContext): Command {
  return new Command('import')
    .description('use models that other programs have downloaded')
    .argument(
      '<sources...>',
      'files, folders, or the stores of other programs (ollama, lmstudio, hf or llama.cpp)',
    )
    .option('--link', 'make hard links or reflinks (default: refer to the original files)')
    .option('--copy', 'copy the files')
    .option(
      '--name <name>',
      'model name (default: the name in the store, or one derived from the filename)',
    )
    .option(
      '--share',
      'share the files with peers while `shoal serve` is running, if the registry specified with --registry has the same files',
    )
    .action(async (sources: string[], options: ImportOptions) => {
      const context = await open()
      const method = readMethod(options)
      const name = readName(options.name)
      const { files, skipped } = await findModelFiles(sources, placesOf(context))
      if (files.length === 0) throw nothingFound(sources, skipped)
      const findTwin = await lookUpTwins(context, files)
      const { outcomes, refused } = await importAll(context, files, {
        ...options,
        method,
        name,
        findTwin,
      })
      const all = [...skipped, ...refused]
      for (const { path, why } of all) context.printer.warn(`Skipped ${path}: ${why}.`)
      await report(context, { outcomes, skipped: all, method })
      if (outcomes.length === 0 || refused.length > 0) context.endWith('failed')
    })
}

const placesOf = ({ environment: { env } }: Context) => ({
  env,
  home: env.HOME ?? homedir(),
  platform: process.platform,
})

function readMethod({ link, copy }: ImportOptions): ImportMethod {
  if (link && copy) throw misuse('--link and --copy cannot be used together.')
  if (link) return 'link'
  return copy ? 'copy' : 'reference'
}

function readName(name: string | undefined): string | undefined {
  if (name === undefined || isModelName(name)) return name
  throw misuse(
    `“${name}” is not a valid model name.`,
    'Use 2 to 96 characters: lowercase letters, digits, dots, hyphens or underscores. Start and end with a letter or digit.',
  )
}

type Settings = Pick<ImportOptions, 'share'> & {
  method: ImportMethod
  name: string | undefined
  findTwin: FindTwin | undefined
}

/** Imports the files one after another. If a file cannot be imported, the others are still imported. */
async function importAll(context: Context, files: readonly FoundFile[], settings: Settings) {
  const { places, printer } = context
  const signal = context.takeStopSignal()
  const { importFile } = await import('@shoal/transfer')
  const outcomes: Outcome[] = []
  const refused: Skipped[] = []
  let twins = 0
  for (const file of files) {
    signal.throwIfAborted()
    try {
      const known = await settings.findTwin?.(file)
      if (known?.twin) twins += 1
      const imported = await importFile(file, {
        modelsDirectory: places.models,
        method: settings.method,
        name: settings.name,
        isShared: settings.share,
        ...known,
        signal,
      })
      outcomes.push({ file, ...imported })
      printer.detail(`  ${file.path} → ${imported.path}`)
    } catch (error) {
      refused.push({ path: file.path, why: explain(error, settings.method) })
    }
  }
  if (settings.findTwin) {
    const { label } = await context.openRegistry()
    printer.note(`  ${label} has ${twins} of ${plural(files.length, 'file')}.`)
  }
  return { outcomes, refused }
}

/** Returns why a file was not imported. Rethrows errors that would also affect other files, such as a full disk. */
function explain(error: unknown, method: ImportMethod): string {
  if (hasCode(error, 'file_in_the_way'))
    return `${error.message}; to import under another name, use --name`
  if (hasCode(error, 'cannot_link')) {
    const others = method === 'reference' ? '--link or --copy' : '--copy, or omit --link'
    return `${error.message}; use ${others}`
  }
  if (hasCode(error, 'is_link')) return error.message
  if (hasCode(error, 'file_changed')) return 'it changed or was deleted during the import'
  if (isErrno(error, 'ENOENT')) return 'it was deleted during the import'
  const isOfThisFile = isErrno(error, 'EACCES', 'EFBIG', 'EIO', 'ENOTSUP', 'EPERM', 'ESTALE')
  if (isOfThisFile) return reasonOfErrno(error)
  throw error
}

type Report = { outcomes: readonly Outcome[]; skipped: readonly Skipped[]; method: ImportMethod }

async function report({ printer }: Context, { outcomes, skipped, method }: Report) {
  const fresh = outcomes.filter(({ alreadyThere }) => !alreadyThere)
  const bytes = fresh.reduce((sum, { file }) => sum + file.sizeBytes, 0)
  const how = {
    reference: 'by reference, without copying',
    link: 'as links, without copying',
    copy: 'as copies',
  }
  if (fresh.length > 0) {
    const what = `${plural(fresh.length, 'file')} (${formatBytes(bytes)})`
    printer.success(`Imported ${what} ${how[method]}.`)
  } else if (outcomes.length > 0) printer.success('Already imported.')
  const [first] = outcomes
  if (first) printer.note(`  To run one: shoal run ${shellWord(first.modelName)}`)
  const document = {
    imported: outcomes.map(({ file, modelName, path, method: storedAs, alreadyThere }) => ({
      model: modelName,
      quantization: file.quantization,
      license: file.license,
      file_size_bytes: file.sizeBytes,
      path,
      from: file.path,
      already_there: alreadyThere,
      method: storedAs,
    })),
    skipped,
    method,
  }
  const names = new Set(outcomes.map(({ file, modelName }) => `${modelName}:${file.quantization}`))
  await printer.answer(document, () => [...names])
}

function nothingFound(sources: readonly string[], skipped: readonly Skipped[]): Failure {
  const [first] = skipped
  const message = first
    ? `Nothing was imported. ${first.path}: ${first.why}.`
    : `No GGUF files in ${sources.join(', ')}.`
  return new Failure('not_found', message, { details: { skipped } })
}
