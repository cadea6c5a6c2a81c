/** Calls for administrators. */
import type { AuditQuery, NewInvitation, NewUser, UserChanges, UserRemoval } from '../admin.ts'
import * as routes from '../routes/admin.ts'
import { to } from './call.ts'
import type { Connection } from './connection.ts'

export function adminCalls({ json, nothing }: Connection) {
  return {
    /**
     * Lists all accounts, oldest first.
     * @example
     * const disabled = (await client.listUsers()).filter(({ disabled_at }) => disabled_at !== null)
     */
    listUsers: (signal?: AbortSignal) => json(to(routes.listUsers), { signal }),
    /**
     * Creates an account with a random password.
     * @example
     * const { password } = await client.createUser({ username: 'cleo' })
     */
    createUser: (user: NewUser) => json(to(routes.createUser), { body: user }),
    /**
     * Returns an account.
     * @example
     * const { role, usage } = await client.getAdminUser('ben')
     */
    getAdminUser: (username: string) => json(to(routes.getAdminUser, { username })),
    /**
     * Changes an account's role, status or quota.
     * @example
     * await client.updateUser('ben', { is_disabled: true })
     */
    updateUser: (username: string, changes: UserChanges) =>
      json(to(routes.updateUser, { username }), { body: changes }),
    /**
     * Sets a random password, ends all sessions and revokes all API keys.
     * @example
     * const { password } = await client.resetPassword('ben')
     */
    resetPassword: (username: string) => json(to(routes.resetPassword, { username })),
    /**
     * Lists an account's API keys, newest first.
     * @example
     * const [latest] = await client.listUserKeys('ben')
     */
    listUserKeys: (username: string) => json(to(routes.listUserKeys, { username })),
    /**
     * Revokes an account's API key.
     * @example
     * for (const { id } of await client.listUserKeys('ben')) await client.revokeUserKey('ben', id)
     */
    revokeUserKey: (username: string, id: string) =>
      nothing(to(routes.revokeUserKey, { username, id })),
    /**
     * Lists invitations, newest first.
     * @example
     * const open = (await client.listInvitations()).filter(({ used_at }) => used_at === null)
     */
    listInvitations: () => json(to(routes.listInvitations)),
    /**
     * Invites someone to create an account. Only this response contains the secret and the URL.
     * @example
     * const { url } = await client.createInvitation({ note: 'Ben from the lab' })
     */
    createInvitation: (invitation: NewInvitation = {}) =>
      json(to(routes.createInvitation), { body: invitation }),
    /**
     * Revokes an unused invitation.
     * @example
     * for (const { id } of await client.listInvitations()) await client.revokeInvitation(id)
     */
    revokeInvitation: (id: string) => nothing(to(routes.revokeInvitation, { id })),
    /**
     * Lists entries of the audit log, newest first, or oldest first with `after`.
     * @example
     * const entries = await client.listAudit({ subject: 'ben', limit: 20 })
     */
    listAudit: (query: AuditQuery = {}, signal?: AbortSignal) =>
      json(to(routes.listAudit), { query, signal }),
    /**
     * Returns the state of the store and of the processing queue.
     * @example
     * const { store, processing } = await client.getStatus()
     */
    getStatus: (signal?: AbortSignal) => json(to(routes.getStatus), { signal }),
    /**
     * Removes an account. If it owns models, they must be given to another account or deleted.
     * @example
     * await client.removeUser('ben', { give_to: 'ana' })
     */
    removeUser: (username: string, removal: UserRemoval = {}) =>
      nothing(to(routes.removeUser, { username }), { query: removal }),
  }
}
