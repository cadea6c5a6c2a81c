/** Saved conversations, in files that only the user can read. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { ignoreMissing } from '@shoal/files'
import { readJsonFile, writeJsonFile } from '../settings/json-file.ts'
import { Failure, misuse } from '../terminal/failure.ts'
import type { Conversation } from './conversation.ts'
import type { ChatSession } from './session.ts'

const getFolder = ({ context }: ChatSession) => join(context.places.state, 'chats')

function getPath(session: ChatSession, name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name))
    return join(getFolder(session), `${name}.json`)
  throw misuse(
    `“${name}” is not a valid name for a conversation.`,
    'Use up to 100 characters: letters, digits, dots, hyphens or underscores. Start with a letter or digit.',
  )
}

export async function saveChat(session: ChatSession, name: string): Promise<void> {
  const { model, conversation } = session
  await writeJsonFile(getPath(session, name), 0o600, { model: model.id, ...conversation })
}

export async function loadChat(session: ChatSession, name: string): Promise<Conversation> {
  const names = await savedNames(session)
  if (!names.includes(name)) {
    const hint =
      names.length > 0 ? `Saved conversations: ${names.join(', ')}.` : 'To save one: /save <name>'
    const message =
      name === ''
        ? 'The name of a conversation is missing.'
        : `No conversation is saved as “${name}”.`
    throw new Failure('not_found', message, { hint })
  }
  const { system, turns, settings } = (await readJsonFile(
    getPath(session, name),
  )) as Partial<Conversation>
  return { system, turns: turns ?? [], settings: settings ?? {} }
}

async function savedNames(session: ChatSession): Promise<string[]> {
  const files = (await readdir(getFolder(session)).catch(ignoreMissing)) ?? []
  return files
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.replace(/\.json$/, ''))
    .toSorted()
}
