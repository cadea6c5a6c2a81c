/** The accounts of the registry that appears in screenshots. */
import { registryClient } from '@shoal/protocol/client'
import { connect } from '../../../packages/registry/src/database/connect.ts'

/** The administrator. */
export const keeper = { username: 'kaya', password: 'the keeper of this place' }
const person = { username: 'ines', password: 'open sesame', email: 'ines@example.org' }
/** The user agents of `person`'s sessions, oldest first. Screenshots are taken with the last session. */
const programs = [
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) Version/18.5 Safari/604.1',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 15.5; rv:140.0) Gecko/20100101 Firefox/140.0',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/138.0.0.0 Safari/537.36',
]

/**
 * Returns the token of the newest session. The first account becomes the administrator, so `person`, which is the
 * second, is an ordinary user.
 */
export async function registerPeople(baseUrl: string): Promise<string> {
  await registryClient({ baseUrl }).register(keeper)
  const [first, ...others] = programs.map((userAgent) => registryClient({ baseUrl, userAgent }))
  let session = await first?.register(person)
  for (const program of others) session = await program.login(person)
  const token = session?.access_token ?? ''
  const client = registryClient({ baseUrl, token })
  await client.createApiKey({ name: 'laptop', expires_at: inDays(71) })
  await client.createApiKey({ name: 'ci', scopes: ['read'], expires_at: null })
  return token
}

/** Changes the dates of sessions and API keys, so that they look several days old. */
export async function makeOlder(dataDirectory: string) {
  const options = { dataDirectory, databaseUrl: undefined, onConnectionLost: () => undefined }
  const { db, close } = await connect(options)
  const sessions = await db.selectFrom('session').select('id').orderBy('id', 'desc').execute()
  for (const [place, { id }] of sessions.entries()) {
    const times = { created_at: inDays(-1 - 6 * place), last_used_at: inDays(-0.1 - 2 * place) }
    await db.updateTable('session').set(times).where('id', '=', id).execute()
  }
  await db
    .updateTable('api_key')
    .set({ created_at: inDays(-19) })
    .execute()
  await db
    .updateTable('api_key')
    .set({ last_used_at: inDays(-2) })
    .where('name', '=', 'laptop')
    .execute()
  await close()
}

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
