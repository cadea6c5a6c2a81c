import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { ConfigError, openAdmin } from '../main.ts'
import { undoMigrations } from '../testing/older-database.ts'
import { describeOnEachDatabase } from '../testing/test-registry.ts'
import { connect } from './connect.ts'
import { migrate } from './migrate.ts'

describeOnEachDatabase('a database', (start) => {
  test('of a newer version is refused with a clear error, by the registry and by admin', async () => {
    const registry = await start()
    const { db } = await registry.connect()
    await sql`insert into kysely_migration (name, timestamp)
      values ('0099_future', '2030-01-01T00:00:00.000Z')`.execute(db)
    const refusal = new ConfigError(
      'the database was made by a newer version of shoal (migration 0099_future): update shoal, or restore a backup from before the update',
    )
    await expect(openAdmin(registry.config)).rejects.toThrow(refusal)
    await expect(registry.connect()).rejects.toThrow(refusal) // as a registry does when it starts

    await sql`delete from kysely_migration where name = '0099_future'`.execute(db)
    await registry.connect()
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

  test('is not migrated if there is no room for it on the disk', async () => {
    const registry = await start()
    const connection = await registry.connect()
    const { db, engine } = connection
    if (engine === 'postgres') return // its disk is not known to us
    const freeBytes = () => 15_000_000
    await migrate({ db, engine, freeBytes }) // there is nothing to do
    await undoMigrations(connection, '0008_download_counter')
    await expect(migrate({ db, engine, freeBytes })).rejects.toThrow(
      new ConfigError(
        'updating the database needs 16.0 MB of free disk space, and 15.0 MB are free: free some space and try again (nothing was changed)',
      ),
    )
    await migrate({ db, engine, freeBytes: () => 16_000_000 })
  })

  test('downloads counted by an older version are kept', async () => {
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
