import type {
  AdminUser,
  ApiKey,
  AuditEntry,
  CreatedInvitation,
  CreatedUser,
  Invitation,
  NewInvitation,
  NewUser,
  PasswordReset,
  UserChanges,
  UserRemoval,
} from '@shoal/protocol'
import type { Kysely } from 'kysely'
import { accountRepository } from '../accounts/account-repository.ts'
import { apiKeyRepository } from '../accounts/api-key-repository.ts'
import { openPasswords } from '../accounts/password.ts'
import { hostActor } from '../audit/actor.ts'
import { type AuditQuery, listAudit, note, user } from '../audit/audit-log.ts'
import type { RegistryConfig } from '../config.ts'
import type { Database } from '../database/schema.ts'
import { readBaseUrl } from '../identity/base-url.ts'
import type { ModelDeletion } from '../models/delete-model.ts'
import { modelRepository } from '../models/model-repository.ts'
import { invitationUrl } from '../people/admin-routes.ts'
import { createUser } from '../people/create-user.ts'
import { openPeople } from '../people/open-people.ts'
import { removeUser } from '../people/remove-user.ts'
import { resetPassword } from '../people/reset-password.ts'

/**
 * The operations of `/v1/admin`, for an administrator on the registry's host. They throw the same errors as the API.
 */
export interface HostUsers {
  list(): Promise<AdminUser[]>
  get(username: string): Promise<AdminUser>
  create(user: NewUser): Promise<CreatedUser>
  change(username: string, changes: UserChanges): Promise<AdminUser>
  remove(username: string, removal: UserRemoval): Promise<void>
  resetPassword(username: string): Promise<PasswordReset>
  listKeys(username: string): Promise<ApiKey[]>
  revokeKey(username: string, id: string): Promise<void>
  /** `url` is undefined if the configuration has no base URL and the registry has never run. */
  invite(
    invitation: NewInvitation,
  ): Promise<Omit<CreatedInvitation, 'url'> & { url: string | undefined }>
  listInvitations(): Promise<Invitation[]>
  revokeInvitation(id: string): Promise<void>
  audit(query: AuditQuery): Promise<AuditEntry[]>
}

type Dependencies = {
  db: Kysely<Database>
  config: RegistryConfig
  collect: ModelDeletion['collect']
  /**
   * Throws the given error or, if that error means that the database cannot be reached, an error that explains this.
   */
  explain: (error: Error) => never
}

export function hostUsers({ db, config, collect, explain }: Dependencies): HostUsers {
  const accounts = accountRepository(db)
  const passwords = openPasswords(config.passwordCost)
  const keys = apiKeyRepository(db)
  const models = modelRepository(db)
  const { people, invitations } = openPeople(db, config.quotaBytes)

  const users: HostUsers = {
    list: () => people.list(),
    get: (username) => people.get(username),
    async create(newUser) {
      const password = await createUser({ accounts, passwords }, newUser, hostActor)
      return { user: await people.get(newUser.username), password }
    },
    async change(username, changes) {
      await people.change(username, changes, hostActor)
      return people.get(username)
    },
    remove: (username, removal) =>
      removeUser({ people, models, collect }, username, removal, hostActor),
    resetPassword: (username) => resetPassword({ accounts, passwords }, username, hostActor),
    async listKeys(username) {
      return keys.list((await people.get(username)).id)
    },
    async revokeKey(username, id) {
      const account = await people.get(username)
      const revoked = note(hostActor, 'key.revoked', user(account.username), { id })
      await keys.delete(account.id, id, revoked)
    },
    async invite(invitation) {
      const created = await invitations.create(invitation, hostActor)
      const baseUrl = config.baseUrl ?? (await readBaseUrl(db))
      return { ...created, url: baseUrl && invitationUrl(baseUrl, created.token) }
    },
    listInvitations: () => invitations.list(),
    revokeInvitation: (id) => invitations.revoke(id, hostActor),
    audit: (query) => listAudit(db, query),
  }
  return explained(users, explain)
}

/** Passes each method's errors to `explain`. */
function explained<T extends object>(methods: T, explain: (error: Error) => never): T {
  return Object.fromEntries(
    Object.entries(methods).map(([name, method]) => [
      name,
      (...args: unknown[]) => method(...args).catch(explain),
    ]),
  ) as T
}
