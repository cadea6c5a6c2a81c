import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { extractFacts, parseGguf } from '@shoal/model-file'
import { sql } from 'kysely'
import { v7 as newId } from 'uuid'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { databaseTime } from '../../database/clock.ts'
import type { Connection } from '../../database/connect.ts'
import type { FileStatus } from '../../database/schema.ts'
import { lockModel } from '../../models/lock-model.ts'
import type { ModelRow } from '../../models/model-repository.ts'
import { manifestFor, smallGguf } from '../../testing/publish.ts'
import { describeOnEachDatabase } from '../../testing/test-registry.ts'
import { uploadRemoval } from '../garbage/upload-removal.ts'
import { processingQueue } from '../processing/processing-queue.ts'
import { createFile } from '../uploads/create-file.ts'
import { type FileRepository, fileRepository } from './file-repository.ts'
import type { FileRow } from './file-row.ts'
import { type FileEvent, type FileTransition, fileTransitions, moveFiles } from './file-states.ts'

const events = Object.keys(fileTransitions) as FileEvent[]
const states: (FileStatus | undefined)[] = [
  undefined, // the file does not exist
  'uploading',
  'processing',
  'ready',
  'failed',
  'expired',
]
const transitions: Record<FileEvent, FileTransition> = fileTransitions
const isFor = (event: FileEvent, state: FileStatus | undefined) =>
  state === undefined ? event === 'begin' : transitions[event].from.includes(state)

const bytes = smallGguf(1)
const manifest = manifestFor('tide.gguf', bytes)
const read = async (start: number, length: number) => bytes.subarray(start, start + length)
const facts = extractFacts(await parseGguf(read, bytes.length), manifest.filename)
const node = 'the node that has the lease'
const hashes = {
  fileSizeBytes: manifest.file_size_bytes,
  sha256_hash: manifest.sha256_hash,
  chunkSize: manifest.chunk_size,
  chunkHashes: Buffer.from(manifest.sha256_hash, 'hex'),
  pieceLength: manifest.chunk_size,
  pieceHashes: Buffer.alloc(20),
}

describeOnEachDatabase('a file', (start) => {
  let connection: Connection
  let files: FileRepository
  let model: ModelRow

  beforeAll(async () => {
    const registry = await start()
    connection = await registry.connect()
    files = fileRepository(connection.db, { countSeeders: async () => new Map() })
    const ana = await registry.register('ana')
    const { body } = await registry.post('/v1/models', { token: ana, body: { name: 'tide' } })
    const { id } = body as { id: string }
    model = (await lockModel(connection.db, id)) as unknown as ModelRow
  })

  afterEach(async () => {
    await connection.db.deleteFrom('file').execute()
    await connection.db.deleteFrom('blob').execute()
  })

  /** For each event, a call that causes the event if the file's state allows this. */
  const doAt: Record<FileEvent, (file: FileRow) => Promise<unknown>> = {
    begin: () => create(undefined),
    submit: ({ id }) => files.submit(id),
    publish: (file) => files.publish(file, node, { hashes, facts, lostKey: undefined }),
    reopen: ({ id }) =>
      queue().end(id, node, { status: 'uploading', detail: 'wrong', uploadId: null }),
    fail: ({ id }) => queue().end(id, node, { status: 'failed', detail: 'no usable file' }),
    expire: () => removal().expireUploads(),
    supersede: ({ id }) => removal().giveUp(id, 'supersede'),
    cancel: ({ id }) => removal().giveUp(id, 'cancel'),
    replace: (file) => create(file),
    remove: (file) => files.remove(file),
  }

  const queue = () => processingQueue(connection.db, connection.engine)
  const removal = () =>
    uploadRemoval(connection.db, { remove: async () => undefined } as unknown as Parameters<
      typeof uploadRemoval
    >[1])
  const create = (before: FileRow | undefined) => {
    const unlimited = { db: connection.db, quotaBytes: undefined }
    const { chunkHashes } = hashes
    const upload = { ...manifest, chunkHashes }
    return createFile(unlimited, model, upload, { storedKey: undefined, before })
  }

  /** Creates a file in this state, with an expired upload and a lease that `node` holds. */
  async function fileIn(state: FileStatus | undefined, hasBytes: boolean): Promise<FileRow> {
    const row = await create(undefined)
    if (!row) throw new Error('another file has this name')
    const { db } = connection
    if (state === undefined) await db.deleteFrom('file').where('id', '=', row.id).execute()
    await sql`update file set status = ${state ?? 'uploading'}, lease_holder = ${node},
      lease_until = ${databaseTime(db, 250)}, upload_expires_at = '2020-01-01T00:00:00.000Z',
      object_key = ${hasBytes ? newId() : null}`.execute(db)
    const changed = db.selectFrom('file').selectAll().where('id', '=', row.id)
    return (await changed.executeTakeFirst()) ?? { ...row, object_key: null }
  }

  const cases = events.flatMap((event) =>
    states.map((state) => ({
      event,
      state,
      next: isFor(event, state) ? transitions[event].to : state,
    })),
  )

  test.each(cases)('goes from $state to $next on $event', async ({ event, state, next }) => {
    const file = await fileIn(state, event !== 'replace')
    const refusal = await doAt[event](file).then(
      () => undefined,
      (error) => error,
    )
    const after = connection.db
      .selectFrom('file')
      .select('status')
      .where(
        event === 'begin' ? 'filename' : 'id',
        '=',
        event === 'begin' ? file.filename : file.id,
      )
    expect((await after.executeTakeFirst())?.status).toBe(next)
    if (isFor(event, state)) expect(refusal).toBeUndefined()
    // If the event does not apply, some calls throw a conflict and others do nothing.
    else if (refusal !== undefined) expect(refusal).toMatchObject({ code: 'conflict' })
  })

  test('can change its status only through an event in the table', async () => {
    const { db } = connection
    // @ts-expect-error: a status cannot be set by hand
    db.updateTable('file').set({ status: 'ready' })
    const values = { status: 'ready' as const }
    // @ts-expect-error: a variable cannot set a status either
    db.updateTable('file').set(values)
    // @ts-expect-error: a status cannot be set along with an event
    moveFiles(db, 'submit', values)
    // @ts-expect-error: an unknown event cannot set a status
    expect(() => moveFiles(db, 'revive')).toThrow()
  })
})

describe('docs/architecture.md', async () => {
  const page = await readFile(
    join(import.meta.dirname, '../../../../../docs/architecture.md'),
    'utf8',
  )
  const section = page.split('## States of a file')[1]?.split('\n## ')[0] ?? ''

  test('has the current table of transitions', () => {
    const rows = events.map((event) => {
      const { from, to, by, does } = transitions[event]
      const named = (some: readonly FileStatus[]) =>
        some.length === 0 ? 'no file' : some.map((state) => `\`${state}\``).join(', ')
      return `| \`${event}\` | ${named(from)} | ${named(to ? [to] : [])} | ${by} | ${does} |`
    })
    expect(section.split('\n').filter((line) => line.startsWith('| `'))).toEqual(rows)
  })

  test('has every state and event in its diagram', () => {
    const words = section.split('```')[1]?.match(/[a-z]+/g) ?? []
    const named = [...states.filter((state) => state !== undefined), ...events]
    expect(new Set(words)).toEqual(new Set([...named, 'no', 'file']))
  })
})
