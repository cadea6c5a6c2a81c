import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { registryClient } from '@shoal/protocol/client'
import { expect, test } from 'vitest'
import { removeLocalFiles } from '../local/remove-local-files.ts'
import { repairFile } from '../local/repair-file.ts'
import { type PullScene, pullScene } from '../testing/pull-scene.ts'
import { relaxedTuning } from '../testing/quick-tuning.ts'
import { smallChunk, syntheticFile, toDownload, toModelFile } from '../testing/synthetic-file.ts'
import { getFilePaths } from './file-paths.ts'
import { keepDownload, toDownloadIdentity } from './kept-download.ts'
import { urlExpiry } from './url-expiry.ts'

const file = syntheticFile(12 * smallChunk + 345)

/** Pulls until `chunks` chunks are complete, then stops. */
async function pullSome(chunks: number, { origin, pull }: PullScene) {
  origin.script = ({ index }) => (index >= chunks ? { stallAfter: 0 } : undefined)
  const abort = new AbortController()
  const enough = new Error('stopped')
  const pulling = pull({
    signal: abort.signal,
    tuning: relaxedTuning,
    onEvent: (event) => {
      if (event.type === 'progress' && event.bytesDone === chunks * smallChunk) abort.abort(enough)
    },
  })
  await expect(pulling).rejects.toBe(enough)
  origin.script = () => undefined
}

test('a pull that is stopped and resumed several times counts as one download', async () => {
  const scene = await pullScene(file)
  for (const chunks of [2, 4, 7, 11]) await pullSome(chunks, scene)
  const { download } = getFilePaths(scene.path)
  expect(statSync(download).mode & 0o777).toBe(0o600)
  const pulled = await scene.pull()
  expect(readFileSync(scene.path).equals(file.bytes)).toBe(true)
  expect(pulled.resumedBytes).toBe(11 * smallChunk)
  expect(scene.origin.downloads).toBe(1)
  expect(existsSync(download)).toBe(false)
})

const keep = ({ path, origin }: PullScene, direct_url: string, registry = origin.url) =>
  keepDownload(path, toDownloadIdentity(registry, toModelFile(file)), {
    ...toDownload(file, origin.url),
    direct_url,
  })

test.each<[string, (kept: string, scene: PullScene) => Promise<void> | void]>([
  ['is missing', (kept) => rmSync(kept)],
  ['is empty', (kept) => writeFileSync(kept, '')],
  [
    'has one wrong digit',
    (kept) => {
      const text = readFileSync(kept, 'utf8')
      const hash = file.chunks[11]?.hash ?? ''
      writeFileSync(kept, text.replace(hash, `${hash.slice(0, -1)}${hash.endsWith('0') ? 1 : 0}`))
    },
  ],
  ['can be read by others', (kept) => chmodSync(kept, 0o644)],
  [
    'is a link',
    (kept) => {
      renameSync(kept, `${kept}-elsewhere`)
      symlinkSync(`${kept}-elsewhere`, kept)
    },
  ],
  [
    'is a pipe',
    (kept) => {
      rmSync(kept)
      execFileSync('mkfifo', ['-m', '600', kept])
    },
  ],
  ['is from another registry', (_, scene) => keep(scene, 'http://other/blob', 'http://other')],
  [
    'has expired',
    (_, scene) =>
      keep(scene, `${scene.origin.url}/gone?X-Amz-Date=20260131T120000Z&X-Amz-Expires=86400`),
  ],
])('the download is requested again if the saved response %s', async (_, damage) => {
  const scene = await pullScene(file)
  await pullSome(7, scene)
  const { download } = getFilePaths(scene.path)
  await damage(download, scene)
  const pulled = await scene.pull()
  expect(readFileSync(scene.path).equals(file.bytes)).toBe(true)
  expect(pulled).toMatchObject({ resumedBytes: 7 * smallChunk, wastedBytes: 0 })
  expect(scene.origin.downloads).toBe(2)
  expect(existsSync(download)).toBe(false)
})

test('if the saved response is a link, the target of the link is not changed', async () => {
  const scene = await pullScene(file)
  await pullSome(2, scene)
  const { download } = getFilePaths(scene.path)
  const elsewhere = `${scene.directory}/notes`
  writeFileSync(elsewhere, 'my own notes')
  for (const place of [download, `${download}.new`]) {
    rmSync(place, { force: true })
    symlinkSync(elsewhere, place)
  }
  await scene.pull()
  expect(readFileSync(elsewhere, 'utf8')).toBe('my own notes')
})

test('when the saved direct URL is refused, the other URLs are used, and no further download is counted', async () => {
  const scene = await pullScene(file)
  await pullSome(7, scene)
  scene.origin.script = ({ way }) => (way === 'direct' ? { status: 403 } : undefined)
  await scene.pull()
  expect(scene.origin.downloads).toBe(1)
})

test.each([401, 403, 404, 410])(
  'if every URL is refused with status %d in the middle of a pull, new URLs are requested',
  async (status) => {
    const scene = await pullScene(file)
    const { origin } = scene
    origin.script = ({ index }) => (index >= 6 && origin.downloads < 2 ? { status } : undefined)
    await scene.pull()
    expect(readFileSync(scene.path).equals(file.bytes)).toBe(true)
    expect(origin.downloads).toBe(2)
  },
)

test('new URLs are requested only once per pull', async () => {
  const scene = await pullScene(file)
  await pullSome(6, scene)
  scene.origin.script = () => ({ status: 403 })
  await expect(scene.pull()).rejects.toMatchObject({ code: 'bytes_refused' })
  expect(scene.origin.downloads).toBe(2)
})

test('if all URLs of a response are refused before any bytes arrive, no second response is requested', async () => {
  const scene = await pullScene(file)
  scene.origin.script = () => ({ status: 403 })
  await expect(scene.pull()).rejects.toMatchObject({ code: 'bytes_refused' })
  expect(scene.origin.downloads).toBe(1)
})

test('a repair counts as one download, even if it is interrupted and a pull finishes it', async () => {
  const scene = await pullScene(file)
  await scene.pull()
  const bytes = readFileSync(scene.path)
  writeFileSync(scene.path, bytes.fill(0, 5 * smallChunk, 5 * smallChunk + 9))
  scene.origin.script = () => ({ stallAfter: 1000 })
  const abort = new AbortController()
  const enough = new Error('stopped')
  const repairing = repairFile({
    client: registryClient({ baseUrl: scene.origin.url }),
    path: scene.path,
    signal: abort.signal,
    tuning: relaxedTuning,
    onEvent: ({ type }) => type === 'resumed' && abort.abort(enough),
  })
  await expect(repairing).rejects.toBe(enough)
  scene.origin.script = () => undefined
  await scene.pull()
  expect(readFileSync(scene.path).equals(file.bytes)).toBe(true)
  expect(scene.origin.downloads).toBe(2) // the first pull and the repair
})

test('removing a partial file removes its saved response', async () => {
  const scene = await pullScene(file)
  await pullSome(2, scene)
  expect(existsSync(getFilePaths(scene.path).download)).toBe(true)
  await removeLocalFiles(scene.directory, [scene.path])
  expect(existsSync(getFilePaths(scene.path).download)).toBe(false)
})

test.each([
  ['?X-Amz-Date=20260131T120000Z&X-Amz-Expires=60', '2026-01-31T12:01:00.000Z'],
  ['?x-goog-expires=60&x-goog-date=20260131T120000Z', '2026-01-31T12:01:00.000Z'],
  ['?Expires=1769860860&Signature=x', '2026-01-31T12:01:00.000Z'],
])('a URL that ends in %s expires at %s', (query, expected) => {
  expect(new Date(urlExpiry(`http://store/object${query}`) ?? 0).toISOString()).toBe(expected)
})

test.each(['', '?X-Amz-Date=today&X-Amz-Expires=60', '?Expires=soon'])(
  'a URL that ends in "%s" has no known expiry',
  (query) => {
    expect(urlExpiry(`http://store/object${query}`)).toBeUndefined()
  },
)
