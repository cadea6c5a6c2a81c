import type { Kysely } from 'kysely'
import type { Database } from '../../database/schema.ts'
import { notFound } from '../../errors.ts'
import { isSame } from '../../is-same.ts'
import { computeSignature } from '../../store/presigned-url.ts'
import type { FileRow } from '../rows/file-row.ts'

export interface Capabilities {
  accessToken(file: Bearer): string
  /** The file that an access token allows. Throws not-found for every other text. */
  getByAccessToken(token: string): Promise<CapableFile>
  /** Where a file's bytes are for seven days. The token is in the path: torrent clients refuse some URLs that have a query. */
  bytesPath(file: Bearer & { filename: string }, now?: number): string
  /** The file whose bytes a token allows, or undefined for one that has expired or was never signed. */
  findByBytesToken(token: string, now?: number): Promise<CapableFile | undefined>
}

/** A file as a capability shows it. */
export type CapableFile = Pick<
  FileRow,
  'id' | 'model_id' | 'filename' | 'blob_hash' | 'private_info_hash'
> & {
  is_public: 0 | 1
  visibility_version: number
}

type Bearer = { id: string; visibility_version: number }

/** As long as torrent clients may keep a redirect's target: seven days, in seconds. */
export const bytesLifetimeSeconds = 604_800

/**
 * Tokens that stand in a path and allow one ready file to whoever has them, account or not. A token is void when its file
 * or its model is gone, or has changed between public and private; each use checks that.
 *
 * - `access` allows chunks, the torrent and the announce of a private file, without an end;
 * - `bytes` allows the whole file and ends after seven days.
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
