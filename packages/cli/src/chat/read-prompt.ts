import { text } from 'node:stream/consumers'
import type { CliEnvironment } from '../environment.ts'

/**
 * Returns the words typed after the model name, then the piped input, separated by a blank line; undefined if both are
 * empty.
 */
export async function readPrompt(
  { stdin }: CliEnvironment,
  words: readonly string[],
): Promise<string | undefined> {
  const typed = words.join(' ')
  const piped = stdin.isTTY ? '' : (await text(stdin)).trimEnd()
  const parts = [typed, piped].filter((part) => part.trim() !== '')
  return parts.length > 0 ? parts.join('\n\n') : undefined
}
