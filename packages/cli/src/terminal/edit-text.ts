import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CliEnvironment } from '../environment.ts'
import { Failure } from './failure.ts'

type Editing = {
  /** The name of the temporary file, without its extension. */
  title: string
  text: string
  save(text: string): Promise<unknown>
}

/**
 * Opens Markdown in the user's editor, and saves the text when the editor is closed. The editor is `$VISUAL` or
 * `$EDITOR` (default: vi, or Notepad on Windows). Resolves with false, without saving, if the text is unchanged. If
 * saving fails, the edited file is kept, and its path is printed.
 */
export async function editText(
  { env, stderr }: Pick<CliEnvironment, 'env' | 'stderr'>,
  { title, text, save }: Editing,
): Promise<boolean> {
  const editor = env.VISUAL || env.EDITOR || (process.platform === 'win32' ? 'notepad' : 'vi')
  const folder = await mkdtemp(join(tmpdir(), 'shoal-edit-'))
  const path = join(folder, `${title}.md`)
  await writeFile(path, text)
  await runEditor(editor, path)
  const edited = await readFile(path, 'utf8')
  if (edited !== text) {
    try {
      await save(edited)
    } catch (error) {
      stderr.write(`Your text is in ${path}.\n`)
      throw error
    }
  }
  await rm(folder, { recursive: true })
  return edited !== text
}

/** Returns the command that starts the editor. As in Git, `editor` may include arguments, as in `code --wait`. */
export function editorWords(
  editor: string,
  path: string,
  platform: NodeJS.Platform = process.platform,
): { words: [string, ...string[]]; isShellCommand: boolean } {
  if (platform === 'win32') return { words: [`${editor} "${path}"`], isShellCommand: true }
  return { words: ['sh', '-c', `${editor} "$@"`, editor, path], isShellCommand: false }
}

async function runEditor(editor: string, path: string): Promise<void> {
  const { words, isShellCommand } = editorWords(editor, path)
  const [program, ...others] = words
  const child = spawn(program, others, { stdio: 'inherit', shell: isShellCommand })
  const [code, signal] = await once(child, 'exit')
  if (code === 0) return
  throw new Failure('failed', `The editor ${editor} ended with ${signal ?? `exit code ${code}`}.`, {
    hint: `Nothing was changed. Your text is in ${path}.`,
  })
}
