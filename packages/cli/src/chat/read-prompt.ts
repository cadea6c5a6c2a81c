import { text } from 'node:stream/consumers'
import type { CliEnvironment } from '../environment.ts'

/** The words after the model name and the piped input, separated by a blank line; undefined if there are neither. */
export async function readPrompt(
  { stdin }: CliEnvironment,
  words: readonly string[],
): Promise<string | undefined> {
  const typed = words.join(' ')
  const piped = stdin.isTTY ? '' : (await text(stdin)).trimEnd()
  const parts = [typed, piped].filter((part) => part.trim() !== '')
  return parts.length > 0 ? parts.join('\n\n') : undefined
}
