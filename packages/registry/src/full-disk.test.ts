/** Tests what works and what is refused while the database's disk is full (SQLite), and that the registry recovers. */
import { cp, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CreatedApiKey, ModelRecord, SignedIn, StartedUpload } from '@shoal/protocol'
import { describe, expect, onTestFinished, test } from 'vitest'
import { slowTest } from '../../../testing/slow-test.ts'
import { canMount, smallDisk } from '../../../testing/small-disk.ts'
import type { RegistryConfig } from './config.ts'
import { downloadJournal } from './files/counting/download-journal.ts'
import { readRegistryConfig, startRegistry } from './main.ts'
import { makeFakeManifest, publish, smallGguf } from './testing/publish.ts'
import { type Answer, startTestRegistry, type TestRegistry } from './testing/test-registry.ts'

const megabyte = 1e6

describe.skipIf(!canMount)('when the database’s disk is full', () => {
  /**
   * Starts a registry with all its data on a small disk. The user ana has an API key, and a model with a ready file and
   * an unfinished upload.
   */
  async function scene(ballastBytes?: number) {
    const disk = await smallDisk('64m')
    onTestFinished(disk.unmount)
    const dataDirectory = join(disk.path, 'data')
    const settings = { dataDirectory, ballastBytes, reserveBytes: 0 }
    const registry = await startTestRegistry(settings)
    onTestFinished(() => registry.close())
    const token = await registry.register('ana')
    const file = await publish(registry, token, { name: 'tide' }, 'a.gguf', smallGguf(1))
    const open = await registry.post('/v1/models/tide/files', {
      token,
      body: makeFakeManifest('open.gguf', megabyte),
    })
    const key = await registry.post('/v1/api-keys', { token, body: { name: 'laptop' } })
    const download = () => registry.get(`/v1/files/tide/download/${file.id}`)
    return {
      disk,
      registry,
      token,
      file,
      open: open.body as StartedUpload,
      key: (key.body as CreatedApiKey).key,
      download,
      ballast: join(dataDirectory, 'ballast'),
    }
  }

  async function countDownloads(registry: TestRegistry, name = 'tide'): Promise<number> {
    const { body }: { body: ModelRecord } = await registry.get(`/v1/models/${name}`)
    return body.downloads
  }

  const countPending = async (registry: TestRegistry) =>
    /^shoal_download_journal_pending (\d+)$/m.exec((await registry.get('/metrics')).text)?.[1]

  const signIn = (registry: TestRegistry) =>
    registry.post('/v1/auth/login', { body: { username: 'ana', password: 'password of ana' } })

  test('everything except uploads continues to work by using the ballast’s space', async () => {
    const { disk, registry, token, file, open, key, download, ballast } = await scene()
    await expect.poll(() => stat(ballast).catch(() => undefined)).toBeTruthy()
    const { size } = await stat(ballast)
    expect(size).toBe(1024 * 1024)
    await registry.restart() // empties SQLite's write-ahead log
    disk.fill()
    expect(disk.freeBytes()).toBe(0)
    const created = { name: 'reef', description: 'a reef '.repeat(50), tags: ['sea'] }
    const answers = {
      upload: await registry.post('/v1/models/tide/files', {
        token,
        body: makeFakeManifest('b.gguf', 2 * megabyte),
      }),
      list: await registry.get('/v1/models', { token }),
      byKey: await registry.get('/v1/auth/me', { token: key }),
      ready: await registry.get('/readyz'),
      download: await download(),
      signIn: await signIn(registry),
      like: await registry.post('/v1/models/tide/like', { token }),
      create: await registry.post('/v1/models', { token, body: created }),
      deleteUpload: await registry.call('DELETE', `/v1/models/tide/files/${open.id}`, { token }),
      deleteFile: await registry.call('DELETE', `/v1/models/tide/files/${file.id}`, { token }),
      deleteModel: await registry.call('DELETE', '/v1/models/tide', { token }),
    }
    const statuses = Object.fromEntries(
      Object.entries(answers).map(([name, { status }]) => [name, status]),
    )
    expect(statuses).toEqual({
      upload: 503,
      list: 200,
      byKey: 200,
      ready: 200,
      download: 200,
      signIn: 200,
      like: 204,
      create: 201,
      deleteUpload: 204,
      deleteFile: 204,
      deleteModel: 204,
    })
    expect((await stat(ballast)).size).toBeLessThan(size)

    await disk.free()
    await expect.poll(() => stat(ballast).catch(() => undefined)).toMatchObject({ size })
  })

  slowTest('many consecutive deletions succeed without a free byte', async () => {
    const { disk, registry, token, ballast } = await scene()
    const names = Array.from({ length: 60 }, (_, index) => `model-${index}`)
    for (const name of names) {
      const body = { name, description: `words of ${name} `.repeat(60), readme: name.repeat(200) }
      await registry.post('/v1/models', { token, body })
    }
    await expect.poll(() => stat(ballast).catch(() => undefined)).toBeTruthy()
    await registry.restart()
    disk.fill()
    for (const name of names) {
      const { status } = await registry.call('DELETE', `/v1/models/${name}`, { token })
      expect([name, status]).toEqual([name, 204])
    }
  })

  slowTest(
    'writes that enlarge the database are refused while there is still space for deletions',
    async () => {
      const { disk, registry, token, ballast } = await scene()
      await expect.poll(() => stat(ballast).catch(() => undefined)).toBeTruthy()
      await registry.restart()
      disk.fill()
      const create = (name: string) => {
        const description = `words of ${name} `.repeat(90)
        return registry.post('/v1/models', {
          token,
          body: { name, description, readme: description.repeat(9) },
        })
      }
      const names: string[] = []
      let refused: Answer | undefined
      while (!refused && names.length < 1_000) {
        const name = `model-${names.length}`
        const answer = await create(name)
        if (answer.status === 201) names.push(name)
        else refused = answer
      }
      expect(refused?.body).toMatchObject({ code: 'storage_full' })
      const { body }: { body: SignedIn } = await signIn(registry)
      for (const name of names) {
        const { status } = await registry.call('DELETE', `/v1/models/${name}`, {
          token: body.access_token,
        })
        expect([name, status]).toEqual([name, 204])
      }
      expect((await registry.post('/v1/auth/logout', { token })).status).toBe(204)
    },
  )

  test('a registry can start', async () => {
    const disk = await smallDisk('64m')
    onTestFinished(disk.unmount)
    const dataDirectory = join(disk.path, 'data')
    const config: RegistryConfig = {
      ...readRegistryConfig({}, { port: '0', data: dataDirectory }),
      log: 'silent',
    }
    const first = await startRegistry(config)
    await expect.poll(() => readdir(dataDirectory)).toContain('ballast')
    await first.close()
    disk.fill()
    const second = await startRegistry(config)
    onTestFinished(() => second.close())
    expect(await second.systemToken()).toMatch(/^shs_/) // creating the token inserts a row
  })

  /**
   * Starts a registry without ballast and with an empty write-ahead log, and fills its disk, so that SQLite cannot
   * write anything.
   */
  async function stuck() {
    const here = await scene(0)
    const { body } = await signIn(here.registry)
    await here.registry.restart()
    here.disk.fill()
    return { ...here, unusedToken: (body as SignedIn).access_token }
  }

  test('if SQLite cannot write at all, reads continue and changes are refused with 503', async () => {
    const { registry, disk, token, unusedToken, key, file } = await stuck()
    for (const path of ['/v1/models', '/v1/auth/me', '/v1/models/tide/files?status=all']) {
      for (const credential of [token, unusedToken, key]) {
        expect([path, (await registry.get(path, { token: credential })).status]).toEqual([
          path,
          200,
        ])
      }
    }
    const refused = [
      await signIn(registry),
      await registry.post('/v1/models/tide/like', { token }),
      await registry.post('/v1/models', { token, body: { name: 'reef' } }),
      await registry.call('DELETE', `/v1/models/tide/files/${file.id}`, { token }),
      await registry.post('/v1/auth/register', { body: { username: 'bo', password: 'of bo, 8' } }),
    ]
    for (const { status, headers, body } of refused) {
      expect({ status, body }).toMatchObject({ status: 503, body: { code: 'storage_full' } })
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    }
    await disk.free()
    expect((await signIn(registry)).status).toBe(200)
    expect((await registry.post('/v1/models/tide/like', { token })).status).toBe(204)
  })

  slowTest('the missing chunks of an upload can be listed on a full disk', async () => {
    const { registry, token, open } = await stuck()
    const path = `/v1/models/tide/files/${open.id}/upload`
    expect(await registry.get(path, { token })).toMatchObject({
      status: 200,
      body: { missing_count: 1 },
    })
  })

  slowTest('downloads continue, and each is counted exactly once', async () => {
    const { registry, disk, download, ballast } = await scene()
    await expect.poll(() => stat(ballast).catch(() => undefined)).toBeTruthy()
    await registry.restart()
    disk.fill()
    const answers = await Promise.all(Array.from({ length: 40 }, download))
    answers.push(await download(), await download())
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    await expect.poll(() => countDownloads(registry)).toBe(42)
    expect(await countPending(registry)).toBe('0')

    await disk.free()
    await download()
    await registry.restart()
    expect(await countDownloads(registry)).toBe(43)
  })

  test('a download that cannot be counted is refused with 503', async () => {
    const { registry, disk, download } = await stuck()
    expect(await download()).toMatchObject({ status: 503, body: { code: 'storage_full' } })
    await disk.free()
    expect((await download()).status).toBe(200)
    await expect.poll(() => countDownloads(registry)).toBe(1)
  })

  test('downloads in the journal are counted at the next start, and are included in a copy of the data', async () => {
    const { registry, file } = await scene()
    const { dataDirectory } = registry.config
    const path = join(dataDirectory, 'downloads.journal')
    const journal = downloadJournal({ ...(await registry.connect()), path })
    await journal.append(new Map([[file.model_id, 2]]))
    const copy = await mkdtemp(join(tmpdir(), 'shoal-copy-'))
    await cp(dataDirectory, copy, { recursive: true })

    await registry.restart()
    expect(await countDownloads(registry)).toBe(2)
    await cp(join(copy, 'downloads.journal'), path) // as if its records had not been counted yet
    await registry.restart()
    expect(await countDownloads(registry)).toBe(2)

    await rm(join(copy, 'lock'))
    const other = await startTestRegistry({ dataDirectory: copy })
    onTestFinished(() => other.close())
    expect(await countDownloads(other)).toBe(2)
  })

  test('a refused upload leaves neither a row nor a file behind', async () => {
    const { registry, disk, token } = await stuck()
    await registry.post('/v1/models/tide/files', {
      token,
      body: makeFakeManifest('b.gguf', 2 * megabyte),
    })
    await disk.free()
    const { body } = await registry.get('/v1/models/tide/files?status=all', { token })
    expect((body as { filename: string }[]).map(({ filename }) => filename).sort()).toEqual([
      'a.gguf',
      'open.gguf',
    ])
    expect(await readdir(join(registry.config.dataDirectory, 'store', 'uploads'))).toHaveLength(2)
    expect(await readdir(registry.config.dataDirectory)).not.toContainEqual(
      expect.stringContaining('unfinished'),
    )
  })

  test('everything else continues to work if the log cannot be written', async () => {
    const disk = await smallDisk('1m')
    onTestFinished(disk.unmount)
    const log = { file: join(disk.path, 'registry.log') }
    const registry = await startTestRegistry({ log })
    onTestFinished(() => registry.close())
    const token = await registry.register('ana')
    disk.fill()
    for (let index = 0; index < 40; index += 1) {
      expect((await registry.get('/v1/models')).status).toBe(200)
    }
    const file = await publish(registry, token, { name: 'tide' }, 'a.gguf', smallGguf(1))
    expect(file.status).toBe('ready') // processing the file also writes log lines outside of requests
    await disk.free()
    await registry.get('/v1/models/tide', { headers: { 'x-request-id': 'after-it' } })
    await expect.poll(() => readFile(log.file, 'utf8')).toContain('after-it')
  })
})
