/** Tests the files in `deploy/`, with real proxies in front of a real registry. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { Download, ModelFile, SignedIn, StartedUpload } from '@shoal/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../testing/free-port.ts'
import { findProgram, needProgram } from '../../../testing/programs.ts'
import { hasS3, s3Address } from '../../../testing/servers.ts'
import { accepts, untilStarted } from '../../../testing/until-started.ts'
import { manifestFor, sha256, smallGguf } from './testing/publish.ts'
import { makeBucket } from './testing/s3-bucket.ts'
import { startTestRegistry, type TestRegistry } from './testing/test-registry.ts'

const deploy = join(import.meta.dirname, '../../../deploy')
const domain = 'models.example.org'
const filesDomain = `files.${domain}`
const authLimit = 5
const ample = { max: 10_000, windowSeconds: 60 }

type Ports = { http: number; https: number; node: number; noNode: number; store: number }

/**
 * Each function writes a copy of a proxy's configuration that differs only in ports and paths, and returns the
 * arguments for starting the proxy.
 */
const proxies = {
  nginx(folder: string, ports: Ports) {
    const site = replaceAll(readFileSync(join(deploy, 'nginx.conf'), 'utf8'), {
      ...addresses(ports),
      'listen 80;': `listen 127.0.0.1:${ports.http};`,
      'listen 443 ssl;': `listen 127.0.0.1:${ports.https} ssl;`,
      '/etc/ssl/shoal': folder,
    })
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((name) => `${name}_temp_path ${folder}/${name};`)
      .join('\n')
    const main = `daemon off;\npid ${folder}/nginx.pid;\nerror_log ${folder}/error.log;\nevents {}`
    const path = join(folder, 'nginx.conf')
    writeFileSync(path, `${main}\nhttp {\naccess_log off;\n${temporary}\n${site}\n}\n`)
    return ['-p', folder, '-c', path]
  },
  haproxy(folder: string, ports: Ports) {
    const site = replaceAll(readFileSync(join(deploy, 'haproxy.cfg'), 'utf8'), {
      ...addresses(ports),
      'bind :80': `bind 127.0.0.1:${ports.http}`,
      'bind :443': `bind 127.0.0.1:${ports.https}`,
      '/etc/ssl/shoal': folder,
    })
    const path = join(folder, 'haproxy.cfg')
    writeFileSync(path, site)
    return ['-db', '-f', path]
  },
}

const addresses = ({ node, noNode, store }: Ports) => ({
  '127.0.0.1:8001': `127.0.0.1:${node}`,
  '127.0.0.1:8002': `127.0.0.1:${noNode}`,
  '127.0.0.1:7070': `127.0.0.1:${store}`,
})

/** Returns `text` with each key of `changes` replaced by its value. Throws if a key does not occur in `text`. */
function replaceAll(text: string, changes: Record<string, string>): string {
  return Object.entries(changes).reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`"${from}" does not occur`)
    return changed.replaceAll(from, to)
  }, text)
}

function makeCertificate(folder: string) {
  const [key, certificate] = [join(folder, 'privkey.pem'), join(folder, 'fullchain.pem')]
  const name = `/CN=${domain}`
  const files = ['-keyout', key, '-out', certificate, '-subj', name, '-days', '1', '-nodes']
  execFileSync(needProgram('openssl'), ['req', '-x509', '-newkey', 'rsa:2048', ...files], {
    stdio: 'ignore',
  })
  writeFileSync(
    join(folder, 'haproxy.pem'),
    Buffer.concat([readFileSync(certificate), readFileSync(key)]),
  )
}

describe.each(['nginx', 'haproxy'] as const)('deploy: %s', (name) => {
  const program = findProgram(name)

  describe.skipIf(!program || !hasS3 || !findProgram('openssl'))('in front of a registry', () => {
    const folder = mkdtempSync(join(tmpdir(), 'shoal-deploy-'))
    const cleanup = new AsyncDisposableStack()
    let ports: Ports
    let registry: TestRegistry

    beforeAll(async () => {
      cleanup.defer(() => rmSync(folder, { recursive: true, force: true }))
      if (!program) throw new Error('not installed')
      const [s3, bucket] = [await s3Address(), await makeBucket()]
      const limits = { auth: { max: authLimit, windowSeconds: 600 } }
      registry = await startTestRegistry({
        baseUrl: `https://${domain}`,
        trustProxy: 1,
        rateLimits: { write: ample, read: ample, chunk: ample, tracker: ample, ...limits },
        s3: { ...bucket, publicEndpoint: `https://${filesDomain}` },
      })
      cleanup.defer(registry.close)
      const [http, https, noNode] = [await freePort(), await freePort(), await freePort()]
      const store = Number(new URL(s3.endpoint).port)
      ports = { http, https, node: registry.port, noNode, store }
      makeCertificate(folder)
      const proxy = spawn(program, proxies[name](folder, ports), { stdio: 'ignore' })
      const exited = once(proxy, 'exit')
      cleanup.defer(async () => {
        proxy.kill('SIGTERM')
        await exited
      })
      const isRunning = () => proxy.exitCode === null
      await untilStarted(name, () => accepts(https), { isRunning })
    })
    afterAll(() => cleanup.disposeAsync())

    type Call = { headers?: Record<string, string>; json?: object; bytes?: Uint8Array }

    /** Calls the registry or the store through the proxy. */
    async function call<T>(method: string, url: string, { headers, json, bytes }: Call = {}) {
      const { host, pathname, search } = new URL(url, `https://${domain}`)
      const sent = request({
        host: '127.0.0.1',
        port: ports.https,
        rejectUnauthorized: false,
        servername: host,
        method,
        path: pathname + search,
        headers: { host, ...headers, ...(json && { 'content-type': 'application/json' }) },
      })
      sent.end(json ? JSON.stringify(json) : bytes)
      const [response] = await once(sent, 'response')
      const body = await buffer(response)
      const isJson = response.headers['content-type']?.includes('json')
      return {
        status: response.statusCode as number,
        secure: response.headersDistinct['strict-transport-security'] as string[] | undefined,
        bytes: body,
        body: (isJson ? JSON.parse(body.toString()) : undefined) as T,
      }
    }

    test('every request succeeds while one of two nodes is down', async () => {
      const statuses = []
      for (let count = 0; count < 20; count += 1) {
        statuses.push((await call('GET', '/v1/models')).status)
      }
      expect(new Set(statuses)).toEqual(new Set([200]))
    })

    test('HTTP is redirected to HTTPS, which browsers are told to use from then on', async () => {
      const response = await fetch(`http://127.0.0.1:${ports.http}/v1/models`, {
        redirect: 'manual',
      })
      expect(response.status).toBe(308)
      expect(response.headers.get('location')).toMatch(/^https:/)
      for (const host of [domain, filesDomain]) {
        expect((await call('GET', `https://${host}/`)).secure, host).toEqual(['max-age=31536000'])
      }
    })

    test('files are pushed to the store and pulled from it', async () => {
      const setup_code = registry.setupCode
      const { body: ana } = await call<SignedIn>('POST', '/v1/auth/register', {
        json: { username: 'ana', password: 'correct horse', setup_code },
      })
      const headers = { authorization: `Bearer ${ana.access_token}` }
      const bytes = smallGguf(1, 5_000_000) // two chunks
      await call('POST', '/v1/models', { headers, json: { name: 'tide' } })
      const files = '/v1/models/tide/files'
      const json = manifestFor('tide.gguf', bytes)
      const { body: started } = await call<StartedUpload>('POST', files, { headers, json })
      for (const { url, index, size, headers } of started.upload.missing_chunks) {
        const start = index * 16 * 1024 * 1024
        const sent = await call('PUT', url, { headers, bytes: bytes.subarray(start, start + size) })
        expect(sent.status).toBe(200)
      }
      await call('POST', `${files}/${started.id}/complete`, { headers })
      const getFile = () => call<ModelFile>('GET', `${files}/${started.id}`, { headers })
      await expect.poll(async () => (await getFile()).body.status).toBe('ready')
      const { body: download } = await call<Download>(
        'GET',
        `/v1/files/tide/download/${started.id}`,
      )
      expect(download.direct_url).toMatch(`https://${filesDomain}/`)
      expect(sha256((await call('GET', download.direct_url)).bytes)).toBe(json.sha256_hash)
    })

    test('WebSocket connections are forwarded', async () => {
      const upgrading = request({
        host: '127.0.0.1',
        port: ports.https,
        rejectUnauthorized: false,
        path: '/announce',
        headers: {
          host: domain,
          origin: `https://${domain}`,
          connection: 'Upgrade',
          upgrade: 'websocket',
          'sec-websocket-version': '13',
          'sec-websocket-key': 'c2hvYWwgc2hvYWwgc2hvYQ==',
        },
      })
      upgrading.end()
      const [response, socket] = await once(upgrading, 'upgrade')
      expect(response.statusCode).toBe(101)
      socket.destroy()
    })

    test('the registry sees the client’s address, whatever the client sends', async () => {
      const statuses = []
      for (let count = 0; count <= authLimit; count += 1) {
        const signedIn = await call<SignedIn>('POST', '/v1/auth/login', {
          headers: { 'x-forwarded-for': `203.0.113.${count}` },
          json: { username: 'nobody', password: 'wrong' },
        })
        statuses.push(signedIn.status)
      }
      expect(statuses.at(-1)).toBe(429)
    })
  })
})

const compose = findProgram('docker-compose')

test.skipIf(!compose)('compose.yaml is valid', () => {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-deploy-'))
  const env = join(folder, 'env')
  writeFileSync(env, readFileSync(join(deploy, 'example.env'), 'utf8').replaceAll(/=$/gm, '=x'))
  const words = ['--file', join(deploy, 'compose.yaml'), '--env-file', env, 'config', '--services']
  const services = execFileSync(compose ?? '', words, { encoding: 'utf8' })
    .trim()
    .split('\n')
  rmSync(folder, { recursive: true })
  expect(services).toEqual(expect.arrayContaining(['node1', 'node2', 'database', 'store', 'nginx']))
})
