import type { ApiKey, CreatedApiKey, Scope } from '@shoal/protocol'
import type { Kysely } from 'kysely'
import { v7 as newId } from 'uuid'
import type { Note } from '../audit/audit-log.ts'
import { databaseTime } from '../database/clock.ts'
import type { Database } from '../database/schema.ts'
import { conflict, notFound } from '../errors.ts'
import type { Caller } from './caller.ts'
import { lockAccount } from './lock-account.ts'
import { requireSession } from './require-session.ts'
import { isWorthNoting } from './session-repository.ts'
import { hashToken, makeToken } from './tokens.ts'

export interface ApiKeyRepository {
  /**
   * Creates a key. The result contains the secret, which is not stored and cannot be read again. If the account already
   * has 100 keys, its expired keys are deleted first.
   * @throws conflict if the account has 100 keys that have not expired
   * @throws unauthenticated if the caller's session has ended in the meantime
   */
  create(
    caller: Caller,
    key: { name: string; scopes: Scope[]; expiresAt: string | null },
    note?: (id: string) => Note,
  ): Promise<CreatedApiKey>
  /**
   * Returns the owner of this key, or undefined if the key is unknown, revoked or expired. Records its use, at most
   * once a minute.
   */
  findCaller(key: string): Promise<Caller | undefined>
  /** Lists the account's keys, newest first, including expired ones. */
  list(accountId: string): Promise<ApiKey[]>
  /** @throws not-found if this account has no such key */
  delete(accountId: string, id: string, note?: Note): Promise<void>
}

const prefixLength = 'hf_'.length + 6
/** Maximum number of keys per account: enough for one key per machine, and few enough to list on one page. */
const maxKeys = 100

/**
 * Returns a repository that calls `onUnnoted` if the time of a key's last use could not be written, for example because
 * the disk is full. The request is still processed.
 */
export function apiKeyRepository(
  db: Kysely<Database>,
  onUnnoted: (error: unknown) => void = () => undefined,
): ApiKeyRepository {
  return {
    async create(
      { accountId, credential }: Caller,
      { name, scopes, expiresAt }: { name: string; scopes: Scope[]; expiresAt: string | null },
      note?: (id: string) => Note,
    ): Promise<CreatedApiKey> {
      const key = makeToken('key')
      const row = {
        id: newId(),
        name,
        prefix: key.slice(0, prefixLength),
        last_used_at: null,
        expires_at: expiresAt,
      }
      return db.transaction().execute(async (trx) => {
        await lockAccount(trx, accountId)
        await requireSession(trx, credential.id)
        await makeRoom(trx, accountId)
        const { created_at } = await trx
          .insertInto('api_key')
          .values({
            ...row,
            account_id: accountId,
            token_hash: hashToken(key),
            scopes: JSON.stringify(scopes),
            created_at: databaseTime(trx),
          })
          .returning('created_at')
          .executeTakeFirstOrThrow()
        await note?.(row.id)(trx)
        return { ...row, created_at, scopes, key }
      })
    },

    async findCaller(key: string): Promise<Caller | undefined> {
      const row = await db
        .selectFrom('api_key')
        .innerJoin('account', 'account.id', 'api_key.account_id')
        .select(['api_key.id', 'account_id', 'username', 'is_admin', 'scopes', 'last_used_at'])
        .select(databaseTime(db).as('now'))
        .where('token_hash', '=', hashToken(key))
        .where('disabled_at', 'is', null)
        .where((is) =>
          is.or([is('expires_at', 'is', null), is('expires_at', '>', databaseTime(db))]),
        )
        .executeTakeFirst()
      if (!row) return undefined
      if (isWorthNoting(row)) {
        await db
          .updateTable('api_key')
          .set({ last_used_at: row.now })
          .where('id', '=', row.id)
          .execute()
          .catch(onUnnoted)
      }
      return {
        accountId: row.account_id,
        username: row.username,
        isAdmin: row.is_admin === 1,
        credential: { kind: 'key', id: row.id, scopes: JSON.parse(row.scopes) },
      }
    },

    async list(accountId: string): Promise<ApiKey[]> {
      const rows = await db
        .selectFrom('api_key')
        .select(['id', 'name', 'prefix', 'scopes', 'created_at', 'last_used_at', 'expires_at'])
        .where('account_id', '=', accountId)
        .orderBy('id', 'desc')
        .execute()
      return rows.map((row) => ({ ...row, scopes: JSON.parse(row.scopes) }))
    },

    delete: (accountId: string, id: string, note?: Note): Promise<void> =>
      db.transaction().execute(async (trx) => {
        const { numDeletedRows } = await trx
          .deleteFrom('api_key')
          .where('account_id', '=', accountId)
          .where('id', '=', id)
          .executeTakeFirst()
        if (numDeletedRows === 0n) throw notFound(`no API key ${id}`)
        await note?.(trx)
      }),
  }
}

async function makeRoom(trx: Kysely<Database>, accountId: string) {
  const keys = trx.selectFrom('api_key').select('id').where('account_id', '=', accountId)
  if ((await keys.execute()).length < maxKeys) return
  await trx
    .deleteFrom('api_key')
    .where('account_id', '=', accountId)
    .where('expires_at', '<=', databaseTime(trx))
    .execute()
  if ((await keys.execute()).length < maxKeys) return
  throw conflict(`this account has ${maxKeys} API keys, the maximum: revoke one first`, {
    code: 'too_many_keys',
  })
}
