/** Calls that manage the caller’s password, sessions and API keys. */
import type { NewApiKey, PasswordChange } from '../account.ts'
import * as routes from '../routes/credentials.ts'
import { to } from './call.ts'
import type { Connection } from './connection.ts'

export function credentialCalls({ json, nothing }: Connection) {
  return {
    /**
     * Changes the password, and ends the account's other sessions.
     * @example
     * await client.changePassword({ current_password: password, new_password: 'a longer password' })
     */
    changePassword: (change: PasswordChange) =>
      nothing(to(routes.changePassword), { body: change }),
    /**
     * Lists the account's sessions, newest first.
     * @example
     * const [latest] = await client.listSessions()
     */
    listSessions: () => json(to(routes.listSessions)),
    /**
     * Ends a session.
     * @example
     * for (const { id, current } of await client.listSessions()) {
     *   if (!current) await client.deleteSession(id)
     * }
     */
    deleteSession: (id: string) => nothing(to(routes.deleteSession, { id })),
    /**
     * Creates an API key. Only this response contains the key itself.
     * @example
     * const { key } = await client.createApiKey({ name: 'laptop' })
     */
    createApiKey: (key: NewApiKey) => json(to(routes.createApiKey), { body: key }),
    /**
     * Lists the account's API keys, newest first. The keys themselves are not included.
     * @example
     * const [latest] = await client.listApiKeys()
     */
    listApiKeys: () => json(to(routes.listApiKeys)),
    /**
     * Revokes an API key.
     * @example
     * for (const { id, name } of await client.listApiKeys()) {
     *   if (name === 'laptop') await client.deleteApiKey(id)
     * }
     */
    deleteApiKey: (id: string) => nothing(to(routes.deleteApiKey, { id })),
  }
}
