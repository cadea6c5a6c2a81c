import type { ModelRecord } from '@shoal/protocol'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { ConfigError, openAdmin } from '../main.ts'
import { undoMigrations } from '../testing/older-database.ts'
import { publish, smallGguf } from '../testing/publish.ts'
import { temporaryLog } from '../testing/temporary-log.ts'
import { describeOnEachDatabase } from '../testing/test-registry.ts'
import { connect } from './connect.ts'
import { migrate } from './migrate.ts'

describeOnEachDatabase('a database', (start) => {
  test('of a newer version is refused with a clear error, by the registry and by shoal admin', async () => {
    const registry = await start()
    const { db } = await registry.connect()
    await sql`insert into kysely_migration (name, timestamp)
      values ('0099_future', '2030-01-01T00:00:00.000Z')`.execute(db)
    await sql`update compatibility set oldest_migration = '0099_future'`.execute(db)
    const refusal = new ConfigError(
      'the database was migrated by a newer version of shoal (migration 0099_future): update shoal, or restore a backup from before that migration',
    )
    await expect(openAdmin(registry.config)).rejects.toThrow(refusal)
    await expect(registry.connect()).rejects.toThrow(refusal) // a registry connects in the same way when it starts

    await sql`delete from kysely_migration where name = '0099_future'`.execute(db)
    await registry.connect()
  })

  test('of a newer version is accepted if this version can still use it, so nodes can be upgraded one by one', async () => {
    const registry = await start()
    const token = await registry.register('ana')
    const before = await publish(registry, token, { name: 'tide' }, 'a.gguf', smallGguf(1))
    // Simulate a newer version that only adds columns and tables.
    const { db } = await registry.connect()
    await sql`alter table model add column next_version text not null default ''`.execute(db)
    await sql`alter table file add column next_version integer`.execute(db)
    await sql`create table next_version (a integer)`.execute(db)
    await sql`insert into kysely_migration (name, timestamp)
      values ('0099_next', '2030-01-01T00:00:00.000Z')`.execute(db)

    // The node continues to work, and can also be restarted.
    for (const name of ['b.gguf', 'c.gguf']) {
      const file = await publish(
        registry,
        token,
        { name: 'tide' },
        name,
        smallGguf(name.charCodeAt(0)),
      )
      expect(file.status).toBe('ready')
      await registry.call('PATCH', '/v1/models/tide', { token, body: { description: name } })
      expect((await registry.get('/v1/models?q=tide')).body).toMatchObject([{ description: name }])
      const download = `/v1/files/tide/download/${before.id}`
      expect((await registry.get(download)).status).toBe(200)
      await registry.restart()
    }
    const { body }: { body: ModelRecord } = await registry.get('/v1/models/tide')
    expect(body).toMatchObject({ files_count: 3, downloads: 2 })
  })

  test('of version 0.1 is migrated, and one warning in the log says that nodes of that version must be stopped', async () => {
    const log = temporaryLog()
    const registry = await start({ log })
    const countWarnings = () =>
      log
        .lines()
        .filter(({ msg }) => /stop every node that still runs an earlier version/.test(String(msg)))
        .length
    const connection = await registry.connect()
    await registry.stop()
    expect(countWarnings()).toBe(0) // no node of an earlier version uses a new database
    await undoMigrations(connection, '0009_nodes')
    await registry.start()
    await registry.restart()
    await registry.stop()
    expect(countWarnings()).toBe(1)
  })

  test('has indexes that joins can use on PostgreSQL: all indexed text has the collation C', async () => {
    const registry = await start()
    const { db, engine } = await registry.connect()
    if (engine === 'sqlite') return
    const { rows } = await sql`select indexrelid::regclass::text as index, attname as column
      from pg_index join pg_attribute on attrelid = indexrelid
      join pg_class on pg_class.oid = indrelid
      where relnamespace = current_schema()::regnamespace and relname not like 'kysely_%'
      and attcollation <> 0 and attcollation <> '"C"'::regcollation`.execute(db)
    expect(rows).toEqual([])
  })

  test('is migrated completely or not at all', async () => {
    const registry = await start()
    await registry.stop()
    const connection = await connect({ ...registry.config, onConnectionLost: () => undefined })
    const { db, close } = connection
    await undoMigrations(connection, '0003_memory')
    // The last statement of the migration fails, as if the process had been killed just before it.
    await sql`create table model_by_memory (a integer)`.execute(db)
    await expect(registry.start()).rejects.toThrow('model_by_memory')
    await sql`drop table model_by_memory`.execute(db)
    await close()
    await registry.start()
    expect((await registry.get('/v1/models')).status).toBe(200)
  })

  test('is not migrated if the disk has too little free space', async () => {
    const registry = await start()
    const connection = await registry.connect()
    const { db, engine } = connection
    if (engine === 'postgres') return // the free space on PostgreSQL's disk is unknown
    const freeBytes = () => 15_000_000
    await migrate({ db, engine, freeBytes }) // no migration is pending, so no space is needed
    await undoMigrations(connection, '0008_download_counter')
    await expect(migrate({ db, engine, freeBytes })).rejects.toThrow(
      new ConfigError(
        'updating the database needs 16.0 MB of free disk space, but only 15.0 MB is available: free some space and try again (nothing was changed)',
      ),
    )
    await migrate({ db, engine, freeBytes: () => 16_000_000 })
  })

  test('keeps the downloads counted by an older version', async () => {
    const registry = await start()
    const token = await registry.register('ana')
    await registry.post('/v1/models', { token, body: { name: 'tide' } })
    const connection = await registry.connect()
    await undoMigrations(connection, '0008_download_counter')
    await sql`update model set downloads = 7`.execute(connection.db)
    await registry.restart()
    expect((await registry.get('/v1/models/tide')).body).toMatchObject({ downloads: 7 })
  })
})
