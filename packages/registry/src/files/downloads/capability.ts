import { isSame } from '@shoal/server'
import type { Kysely } from 'kysely'
import type { Database } from '../../database/schema.ts'
import { notFound } from '../../errors.ts'
import { computeSignature } from '../../store/presigned-url.ts'
import type { FileRow } from '../rows/file-row.ts'

export interface Capabilities {
  accessToken(file: Bearer): string
  /** The file that an `access` token gives access to. Throws not-found for an invalid token. */
  getByAccessToken(token: string): Promise<CapableFile>
  /**
   * The path of a URL for a file's bytes, valid for seven days. The token is part of the path because torrent clients
   * reject some URLs that have a query.
   */
  bytesPath(file: Bearer & { filename: string }, now?: number): string
  /**
   * The file that a `bytes` token gives access to; undefined if the token has expired or its signature is invalid.
   * Throws not-found if the file was deleted, or if its model was made public or private.
   */
  findByBytesToken(token: string, now?: number): Promise<CapableFile | undefined>
}

/** Columns of the file to which a capability gives access. */
export type CapableFile = Pick<
  FileRow,
  'id' | 'model_id' | 'filename' | 'blob_hash' | 'private_info_hash'
> & {
  is_public: 0 | 1
  visibility_version: number
}

type Bearer = { id: string; visibility_version: number }

/** Seven days, in seconds, because torrent clients may keep using a redirect's target for days. */
export const bytesLifetimeSeconds = 604_800

/**
 * Tokens in URL paths. Each token gives anyone who has it access to one ready file, even without an account. A token
 * becomes invalid if its file or model is deleted, or if its model is made public or private. This is checked at each
 * use.
 *
 * - `access`: the chunks, the torrent and the announces of a private file; does not expire
 * - `bytes`: the whole file; expires after seven days
 */
export function capabilities(db: Kysely<Database>, signingKey: string): Capabilities {
  const sign = (kind: 'access' | 'bytes', ...parts: (string | number)[]) =>
    computeSignature(signingKey, kind, ...parts.map(String)).slice(0, 43)

  async function getFile(id: string, version: number): Promise<CapableFile> {
    return db
      .selectFrom('file')
      .innerJoin('model', 'model.id', 'file.model_id')
      .select(['file.id', 'file.model_id', 'file.filename', 'file.blob_hash'])
      .select('file.private_info_hash')
      .select(['model.is_public', 'model.visibility_version'])
      .where('file.id', '=', id)
      .where('file.status', '=', 'ready')
      .where('model.visibility_version', '=', version)
      .executeTakeFirstOrThrow(() => notFound('this link is no longer valid'))
  }

  return {
    accessToken({ id, visibility_version }: Bearer): string {
      return `${id}.${visibility_version}.${sign('access', id, visibility_version)}`
    },

    async getByAccessToken(token: string): Promise<CapableFile> {
      const [id = '', version = '', signature = '', ...rest] = token.split('.')
      if (rest.length > 0 || !isSame(signature, sign('access', id, version))) {
        throw notFound('this link is not valid')
      }
      return getFile(id, Number(version))
    },

    bytesPath(file: Bearer & { filename: string }, now = Date.now()): string {
      const expires = Math.floor(now / 1000) + bytesLifetimeSeconds
      const parts = [file.id, file.visibility_version, expires]
      const token = [...parts, sign('bytes', ...parts)].join('.')
      return `/blobs/${token}/${encodeURIComponent(file.filename)}`
    },

    async findByBytesToken(token: string, now = Date.now()): Promise<CapableFile | undefined> {
      const [id = '', version = '', expires = '', signature = '', ...rest] = token.split('.')
      const isSigned = rest.length === 0 && isSame(signature, sign('bytes', id, version, expires))
      if (!isSigned || Number(expires) * 1000 <= now) return undefined
      return getFile(id, Number(version))
    },
  }
}
