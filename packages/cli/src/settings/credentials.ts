/** Saved sign-ins, one for each registry, in a file that only its owner can read. */
import { join } from 'node:path'
import { othersAndGroup, takePermissions } from '@shoal/files/secret'
import { readJsonFile, updateJsonFile } from './json-file.ts'
import type { Places } from './places.ts'

export type Credential = { token: string; username: string; expires_at: string | null }

const onlyOwner = 0o600
const pathIn = (places: Places) => join(places.config, 'credentials.json')

export async function readCredentials(places: Places): Promise<Record<string, Credential>> {
  const path = pathIn(places)
  takePermissions(path, othersAndGroup) // the file may have been copied or restored without its permissions
  const content = await readJsonFile(path)
  return Object.fromEntries(
    Object.entries(content).filter((entry): entry is [string, Credential] =>
      isCredential(entry[1]),
    ),
  )
}

export function saveCredential(places: Places, address: string, credential: Credential) {
  return updateJsonFile(pathIn(places), onlyOwner, (all) => ({ ...all, [address]: credential }))
}

export function forgetCredential(places: Places, address: string) {
  return updateJsonFile(pathIn(places), onlyOwner, ({ [address]: _, ...others }) => others)
}

function isCredential(value: unknown): value is Credential {
  return (
    typeof value === 'object' &&
    value !== null &&
    'token' in value &&
    typeof value.token === 'string'
  )
}
