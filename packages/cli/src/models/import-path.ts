import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { hasCode } from '@shoal/core/errors'
import { shellWord } from '@shoal/core/references'
import type { Context } from '../context.ts'
import { Failure } from '../terminal/failure.ts'
import { findModelFiles } from './find-here.ts'
import { formatChoiceName, listLocalChoices } from './local-models.ts'

/**
 * Whether the text is a file path, not a model name. A path begins with `/`, `./`, `../` or a drive such as `C:/` (with
 * slashes or backslashes), or ends in `.gguf` and contains no colon.
 */
export const isFilePath = (text: string): boolean =>
  /^(\.{0,2}[\\/]|[a-z]:[\\/])/i.test(text) || (/\.gguf$/i.test(text) && !text.includes(':'))

/** Imports a file by reference, unless it is already in the models folder. Returns the model reference for the file. */
export async function importPath(context: Context, path: string): Promise<string> {
  const { places, environment, printer } = context
  const { importFile } = await import('@shoal/transfer')
  const here = await findChoice(context, resolve(path))
  if (here !== undefined) return here
  const stores = { env: environment.env, home: homedir(), platform: process.platform }
  const { files, skipped } = await findModelFiles([path], stores)
  const [first] = files
  if (first === undefined) {
    throw new Failure('failed', `${path} cannot be run: ${skipped[0]?.why ?? 'it is not a model'}.`)
  }
  let imported = ''
  for (const file of files) {
    const options = { modelsDirectory: places.models, method: 'reference' as const }
    const one = await importFile(file, options).catch((error: unknown) => {
      if (hasCode(error, 'cannot_link')) {
        throw new Failure('failed', `${error.message}.`, {
          hint: `To import the file as a hard link: shoal import ${shellWord(path)} --link. To copy it: shoal import ${shellWord(path)} --copy`,
          cause: error,
        })
      }
      if (!hasCode(error, 'file_in_the_way')) throw error
      throw new Failure('failed', `Another model is already named ${file.modelName}.`, {
        hint: `To import the file under another name: shoal import ${shellWord(path)} --name <name>`,
        cause: error,
      })
    })
    if (imported === '') imported = one.path
  }
  const reference = await findChoice(context, imported)
  if (reference === undefined) throw new Failure('failed', `${path} could not be imported.`)
  printer.note(
    `  ${path} is available as ${reference}. shoal uses the file in place and does not copy it.`,
  )
  return reference
}

/** Returns the model reference for the file at this path, if the file is in the models folder. */
async function findChoice(context: Context, path: string): Promise<string | undefined> {
  const choices = await listLocalChoices(context)
  const found = choices.find(({ files }) => files.some((file) => file.path === path))
  return found && formatChoiceName(found)
}
