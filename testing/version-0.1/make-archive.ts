import { execFileSync } from 'node:child_process'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { constants, zstdCompressSync } from 'node:zlib'
import { fixture, recorded } from './fixture.ts'

const { root, registryUrl } = recorded
const farAway = '2126-01-01T00:00:00.000Z'

/**
 * Extends the expiry times of sessions and uploads from days to years, because the fixture will be used for years. The
 * registry must be running.
 */
export async function putOffExpiry() {
  const path = join(root, 'home/config/credentials.json')
  const credentials = JSON.parse(await readFile(path, 'utf8'))
  credentials[registryUrl].expires_at = farAway
  await writeFile(path, `${JSON.stringify(credentials, undefined, 2)}\n`)
  // The registry still has a connection, so closing this one does not checkpoint and delete SQLite's write-ahead log.
  const database = new DatabaseSync(join(root, 'registry/registry.sqlite'))
  database.prepare('update session set expires_at = ?').run(farAway)
  database.prepare('update file set upload_expires_at = ?').run(farAway)
  database.close()
}

/** Packs the folder, without the demo model and the published files. */
export async function pack() {
  await rm(join(root, 'registry/registry.sqlite-shm'))
  await rm(join(root, 'home/data/models/shoal-nano'), { recursive: true })
  for (const name of ['tide', 'surge', 'reef']) await rm(join(root, `files/${name}-Q8_0.gguf`))
  await removeHostname(join(root, 'home/state/daemon.log'))
  const format = ['--sparse', '--sort=name', '--format=posix']
  const times = '--pax-option=delete=atime,delete=ctime'
  const owner = ['--owner=0', '--group=0', '--numeric-owner']
  const parts = ['api-key', 'files', 'home', 'registry']
  const tar = execFileSync('tar', [...format, times, ...owner, '-C', root, '-c', ...parts], {
    maxBuffer: 2 ** 30,
  })
  const params = { [constants.ZSTD_c_compressionLevel]: 19 }
  await writeFile(fixture.archivePath, zstdCompressSync(tar, { params }))
}

async function removeHostname(log: string) {
  await writeFile(log, (await readFile(log, 'utf8')).replaceAll(`"${hostname()}"`, '"host"'))
}
