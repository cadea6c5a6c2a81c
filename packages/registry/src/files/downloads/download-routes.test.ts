import { createHash } from 'node:crypto'
import type { Download, ModelFile, ModelRecord } from '@shoal/protocol'
import { beforeAll, expect, test } from 'vitest'
import { publish, sha256, smallGguf } from '../../testing/publish.ts'
import { describeApi, everywhere, type TestRegistry } from '../../testing/test-registry.ts'

describeApi('downloads', { on: everywhere }, (start, oneNodeTest) => {
  const bytes = smallGguf(1, 5_000_000) // two chunks
  let registry: TestRegistry
  let ana: string
  let ben: string
  let file: ModelFile
  let download: Download

  const getDownload = async (model: string, id: string, token?: string): Promise<Download> =>
    (await registry.get(`/v1/files/${model}/download/${id}`, { token })).body
  const countDownloads = async (model: string): Promise<number> => {
    const { body }: { body: ModelRecord } = await registry.get(`/v1/models/${model}`, {
      token: ana,
    })
    return body.downloads
  }

  beforeAll(async () => {
    registry = await start()
    ana = await registry.register('ana')
    ben = await registry.register('ben')
    file = await publish(registry, ana, { name: 'tide' }, 'tide F32 (1).gguf', bytes)
    download = await getDownload('tide', file.id)
  })

  test('a download response has the fields that the API specifies, and is not cached', async () => {
    const { headers } = await registry.get(`/v1/files/tide/download/${file.id}`)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('etag')).toBeNull()
    expect(Object.keys(download).sort()).toEqual([
      'chunk_hashes',
      'direct_url',
      'file_size_bytes',
      'magnet_uri',
      'sha256_hash',
      'torrent_info_hash',
      'torrent_url',
    ])
    expect(download).toMatchObject({
      file_size_bytes: bytes.length,
      sha256_hash: sha256(bytes),
      torrent_info_hash: file.torrent_info_hash,
    })
    expect(new URL(download.direct_url).searchParams.get('X-Amz-Expires')).toBe('86400')
    const magnet = new URLSearchParams(download.magnet_uri.replace('magnet:?', ''))
    expect(magnet.get('xt')).toBe(`urn:btih:${file.torrent_info_hash}`)
    expect(magnet.get('dn')).toBe(file.filename)
    expect(magnet.get('ws')).toBe(`${registry.url}/v1/files/chunks/${sha256(bytes)}`)
    expect(magnet.get('tr')).toBe(`${registry.url}/announce`)
    expect(magnet.get('xs')).toBe(download.torrent_url)
    expect(download.chunk_hashes.map(({ index, size }) => [index, size])).toEqual([
      [0, 16 * 1024 * 1024],
      [1, bytes.length - 16 * 1024 * 1024],
    ])
  })

  test('twenty concurrent downloads are counted as twenty; HEAD and refused requests are not counted', async () => {
    const before = await countDownloads('tide')
    const path = `/v1/files/tide/download/${file.id}`
    await Promise.all(Array.from({ length: 20 }, () => registry.get(path)))
    const head = await registry.call('HEAD', path)
    expect(head.status).toBe(200)
    await registry.get('/v1/files/tide/download/nothing')
    await registry.get(path, { token: 'wrong' })
    expect(await countDownloads('tide')).toBe(before + 20)
  })

  oneNodeTest(
    'the direct URL serves the bytes, with the headers that clients need to resume',
    async () => {
      const whole = await registry.bytes(download.direct_url)
      expect(whole.status).toBe(200)
      expect(sha256(whole.bytes)).toBe(file.sha256_hash)
      expect(whole.headers.get('accept-ranges')).toBe('bytes')
      expect(whole.headers.get('content-length')).toBe(String(bytes.length))
      expect(whole.headers.get('content-disposition')).toBe(
        'attachment; filename="tide F32 (1).gguf"',
      )
      const etag = whole.headers.get('etag') ?? ''
      expect(etag).toMatch(/^"[^"]+"$/)

      const part = await registry.bytes(download.direct_url, {
        range: 'bytes=100-199',
        'if-range': etag,
      })
      expect(part.status).toBe(206)
      expect(part.headers.get('content-range')).toBe(`bytes 100-199/${bytes.length}`)
      expect(part.bytes.equals(bytes.subarray(100, 200))).toBe(true)
      const stale = await registry.bytes(download.direct_url, {
        range: 'bytes=100-199',
        'if-range': '"x"',
      })
      expect(stale.status).toBe(200)
      const tail = await registry.bytes(download.direct_url, { range: 'bytes=-10' })
      expect(tail.bytes.equals(bytes.subarray(-10))).toBe(true)
      const open = await registry.bytes(download.direct_url, {
        range: `bytes=${bytes.length - 3}-`,
      })
      expect(open.bytes).toHaveLength(3)
      const beyond = await registry.bytes(download.direct_url, { range: `bytes=${bytes.length}-` })
      expect(beyond.status).toBe(416)
      expect(beyond.headers.get('content-range')).toBe(`bytes */${bytes.length}`)
      const head = await registry.call('HEAD', download.direct_url)
      expect(head.status).toBe(200)
      expect(head.headers.get('content-length')).toBe(String(bytes.length))
    },
  )

  oneNodeTest('a signed URL in which any character is changed returns 403', async () => {
    const { pathname, search } = new URL(download.direct_url)
    const path = pathname + search
    for (let at = '/blobs/'.length; at < path.length; at += at < pathname.length ? 1 : 7) {
      for (const other of ['a', 'b', 'Z', '-', '.', '/', '?', '&']) {
        if (path[at] === other) continue
        const { status } = await registry.get(path.slice(0, at) + other + path.slice(at + 1))
        expect([at, other, status]).toEqual([at, other, 403])
      }
    }
    expect((await registry.get(`${path}&x=1`)).status).toBe(403)
    expect((await registry.get(path.toUpperCase().replace('/BLOBS/', '/blobs/'))).status).toBe(403)
    expect((await registry.call('PUT', path, { bytes: 'x' })).status).toBe(403)
  })

  test('a request for a chunk hash redirects to exactly the bytes of that chunk', async () => {
    for (const { hash, index, size } of download.chunk_hashes) {
      const redirect = await registry.get(`/v1/files/chunks/${hash}`)
      expect(redirect.status).toBe(302)
      const { bytes: chunk } = await registry.bytes(redirect.headers.get('location') ?? '')
      expect(chunk).toHaveLength(size)
      expect(sha256(chunk)).toBe(hash)
      const start = index * 16 * 1024 * 1024
      expect(chunk.equals(bytes.subarray(start, start + size))).toBe(true)
    }
  })

  test('a request for the SHA-256 of a file redirects to the file, at a URL without a query', async () => {
    const redirect = await registry.get(`/v1/files/chunks/${file.sha256_hash}`)
    expect(redirect.status).toBe(302)
    const location = redirect.headers.get('location') ?? ''
    expect(location).not.toContain('?')
    const part = await registry.bytes(location, { range: 'bytes=5-9' })
    expect(part.status).toBe(206)
    expect(part.bytes.equals(bytes.subarray(5, 10))).toBe(true)
    const forged = location.replace(/.(?=\/[^/]*$)/, (last) => (last === '0' ? '1' : '0'))
    expect((await registry.get(forged)).status).toBe(403)
  })

  test('a HEAD request for a chunk describes the bytes and does not redirect', async () => {
    const [chunk] = download.chunk_hashes
    const head = await registry.call('HEAD', `/v1/files/chunks/${chunk?.hash}`)
    expect(head.status).toBe(200)
    expect(head.headers.get('content-length')).toBe(String(chunk?.size))
    const whole = await registry.call('HEAD', `/v1/files/chunks/${file.sha256_hash}`)
    expect(whole.headers.get('content-length')).toBe(String(bytes.length))
    for (const { headers } of [head, whole]) {
      expect(headers.get('cache-control')).toContain('private')
      expect(headers.get('vary')).toBe('Authorization, Cookie')
    }
  })

  test('a chunk hash may be in uppercase', async () => {
    for (const hash of [download.chunk_hashes[0]?.hash ?? '', file.sha256_hash]) {
      const redirect = await registry.get(`/v1/files/chunks/${hash.toUpperCase()}`)
      const { bytes: found } = await registry.bytes(redirect.headers.get('location') ?? '')
      expect(sha256(found)).toBe(hash)
    }
    expect((await registry.get(`/v1/files/chunks/${'A'.repeat(64)}`)).status).toBe(404)
  })

  test('a token with characters that no token contains is invalid', async () => {
    const letters = '%C3%A9'.repeat(43)
    const chunk = `/v1/files/chunks/${file.sha256_hash}/${file.id}.1.${letters}`
    expect((await registry.get(chunk)).status).toBe(404)
    const blob = `/blobs/${file.id}.1.4000000000.${letters}/${encodeURIComponent(file.filename)}`
    expect((await registry.get(blob)).status).toBe(403)
  })

  test('a malformed chunk hash returns 400, and an unknown one returns 404', async () => {
    expect((await registry.get('/v1/files/chunks/xyz')).status).toBe(400)
    expect((await registry.get(`/v1/files/chunks/${'a'.repeat(64)}`)).status).toBe(404)
  })

  test('the torrent has the info hash of the file', async () => {
    const torrent = await registry.bytes(download.torrent_url)
    expect(torrent.headers.get('content-type')).toBe('application/x-bittorrent')
    const text = torrent.bytes.toString('latin1')
    const info = torrent.bytes.subarray(text.indexOf('4:infod') + 6, text.lastIndexOf('8:url-list'))
    expect(createHash('sha1').update(info).digest('hex')).toBe(file.torrent_info_hash)
    expect(text).toContain(`/v1/files/chunks/${file.sha256_hash}`)
    expect(text).not.toContain('private')
  })

  test('a private file is accessible only to its owner or with a token', async () => {
    const secret = smallGguf(99, 5_000_000)
    const model = { name: 'hidden', is_public: false }
    const hidden = await publish(registry, ben, model, 'hidden.gguf', secret)
    const mine = await getDownload('hidden', hidden.id, ben)
    const hash = mine.chunk_hashes[0]?.hash
    const cleo = await registry.register('cleo')
    for (const token of [undefined, cleo]) {
      for (const path of [
        `/v1/files/hidden/download/${hidden.id}`,
        `/v1/files/hidden/torrent/${hidden.id}`,
        `/v1/files/chunks/${hash}`,
        `/v1/files/chunks/${hidden.sha256_hash}`,
        `/v1/files/chunks/${hash}/${hidden.id}.1.${'a'.repeat(43)}`,
      ]) {
        expect((await registry.get(path, { token })).status).toBe(404)
      }
    }
    expect(new URL(mine.torrent_url).search).toBe('')
    const torrent = await registry.bytes(mine.torrent_url)
    expect(torrent.status).toBe(200)
    expect(torrent.bytes.toString('latin1')).toContain('7:privatei1e')

    const webSeed = new URLSearchParams(mine.magnet_uri.replace('magnet:?', '')).get('ws') ?? ''
    const redirect = await registry.get(webSeed)
    expect(redirect.status).toBe(302)
    const location = redirect.headers.get('location') ?? ''
    expect(sha256((await registry.bytes(location)).bytes)).toBe(hidden.sha256_hash)
    const chunk = await registry.get(webSeed.replace(hidden.sha256_hash, hash ?? ''))
    expect(chunk.status).toBe(302)
    const foreign = webSeed.replace(hidden.sha256_hash, download.chunk_hashes[0]?.hash ?? '')
    expect((await registry.get(foreign)).status).toBe(404)

    await registry.call('PATCH', '/v1/models/hidden', { token: ben, body: { is_public: true } })
    expect((await registry.get(webSeed)).status).toBe(404)
    expect((await registry.get(location)).status).toBe(404)
    const { body: shown }: { body: ModelFile } = await registry.get(
      `/v1/models/hidden/files/${hidden.id}`,
    )
    expect(shown.torrent_info_hash).not.toBe(hidden.torrent_info_hash)
  })

  oneNodeTest('pages from other origins can read the bytes, without credentials', async () => {
    const { headers } = await registry.bytes(download.direct_url, {
      origin: 'https://elsewhere.example',
    })
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-allow-credentials')).toBeNull()
    const asked = await registry.call('OPTIONS', download.direct_url, {
      headers: {
        origin: 'https://elsewhere.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'cache-control,range', // as WebTorrent sends them
      },
    })
    expect(asked.status).toBe(204)
    const allowed = asked.headers.get('access-control-allow-headers')?.toLowerCase().split(', ')
    expect(allowed).toEqual(expect.arrayContaining(['cache-control', 'range']))
  })
})
