import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFile,
  chmod,
  mkdir,
  readdir,
  readFile,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { findDownloader, findProgram, pathWith } from '../../../../testing/programs.ts'
import { slowTest } from '../../../../testing/slow-test.ts'
import { temporaryFolder } from '../../../../testing/temporary-folder.ts'
import { makeReleaseKey, writeRelease } from '../../../releases/src/testing/write-release.ts'
import type { RegistryConfig } from '../config.ts'
import { startTestRegistry } from '../testing/test-registry.ts'
import { openOwnReleases } from './own-releases.ts'

const ownPlatform = `${process.platform}-${process.arch}`
const ownAddress = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address

/** The program with which the script downloads; empty if none is installed. */
const downloader = findDownloader() ?? ''
const installTest = test.skipIf(!downloader)

/** Returns a program that saves settings as shoal does, and prints its version. */
const program = (version: string) => `#!/bin/sh
case "$1 $2" in
  '--version ') echo ${version} ;;
  'config get') cat "$HOME/saved" ;;
  'config set') printf '%s' "$4" >"$HOME/saved" ;;
esac
`

async function start(settings: Partial<RegistryConfig> = {}) {
  const registry = await startTestRegistry(settings)
  onTestFinished(() => registry.close())
  const releases = openOwnReleases(registry.config)
  return {
    ...registry,
    async add(contents: Partial<Parameters<typeof writeRelease>[0]> = {}) {
      const { key = makeReleaseKey(), version = '1.0.0', ...others } = contents
      await using made = await writeRelease({ key, version, program: program(version), ...others })
      return (await releases.add([made.path], async () => undefined)).release
    },
    /** Requests the page, as a browser does. */
    getPage: () =>
      registry.get(`http://localhost:${registry.port}/install`, {
        headers: { accept: 'text/html,application/xhtml+xml' },
      }),
    /** Runs the registry's installation script, or `script` if it is given. */
    async install(
      home: string,
      {
        words = [] as string[],
        script = undefined as string | undefined,
        programs = downloader ? [downloader] : [],
      } = {},
    ) {
      const path = join(home, 'shoal-install.sh')
      await writeFile(path, script ?? (await registry.get('/install')).text)
      const running = promisify(execFile)('sh', [path, ...words], {
        cwd: home,
        env: { PATH: programs.length > 0 ? pathWith(...programs) : process.env.PATH, HOME: home },
      })
      return running.then(
        ({ stderr }) => ({ code: 0, stderr }),
        ({ code, stderr }) => ({ code, stderr: String(stderr) }),
      )
    },
  }
}

const run = async (path: string, home: string, ...words: string[]) =>
  (await promisify(execFile)(path, words, { env: { PATH: process.env.PATH, HOME: home } })).stdout

test('without a release, the page and the script explain how to add one', async () => {
  const registry = await start()
  const html = await registry.getPage()
  expect(html.headers.get('content-type')).toContain('text/html')
  expect(html.text).toContain('If you run this registry')
  const { text, headers } = await registry.get('/install')
  expect(headers.get('content-type')).toContain('text/x-shellscript')
  const result = await registry.install(temporaryFolder(), { script: text })
  expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining('npm run release') })
})

test('the page and the API show the checksums and the key, even on a members-only registry', async () => {
  const registry = await start({ isAnonymousReadAllowed: false })
  const release = await registry.add()
  const script = (await registry.get('/install')).text
  const { body } = await registry.get('/v1/releases')
  expect(body).toEqual({
    releases: [
      {
        version: '1.0.0',
        platform: ownPlatform,
        files: release.files.map(({ name: filename, sizeBytes: size_bytes, sha256 }) => ({
          ...{ filename, size_bytes, sha256 },
        })),
      },
    ],
    status: 'offered',
    script_sha256: createHash('sha256').update(script).digest('hex'),
    key_sha256s: [release.keyFingerprint],
  })
  const { status, text, headers } = await registry.getPage()
  expect(status).toBe(200)
  expect(headers.get('vary')).toContain('Accept')
  expect(text).toContain(release.keyFingerprint)
  expect(text).toContain('This registry uses HTTP')
  const links = [...text.matchAll(/href="(\/install\/[^"]+)"/g)]
  expect(links.length).toBe(release.files.length + 3)
  for (const [, path = ''] of links) {
    expect((await registry.get(path)).status, path).toBe(200)
  }
})

test('over HTTPS, the page does not warn about HTTP', async () => {
  const registry = await start({ baseUrl: 'https://models.example.org' })
  await registry.add()
  const { text } = await registry.getPage()
  expect(text).not.toContain('This registry uses HTTP')
  expect(text).toContain('https://models.example.org/install')
})

test('files and ranges of files are sent; unknown files and paths get 404', async () => {
  const registry = await start()
  const release = await registry.add()
  const [archive] = release.files.filter(({ name }) => name.endsWith('.tar.gz'))
  const path = `/install/${ownPlatform}/${archive?.name}`
  const content = await readFile(join(release.folder, archive?.name ?? ''))
  const whole = await fetch(`http://127.0.0.1:${registry.port}${path}`)
  expect(Buffer.from(await whole.arrayBuffer()).equals(content)).toBe(true)
  const part = await fetch(`http://127.0.0.1:${registry.port}${path}`, {
    headers: { range: 'bytes=1-4' },
  })
  expect(part.status).toBe(206)
  expect(Buffer.from(await part.arrayBuffer()).equals(content.subarray(1, 5))).toBe(true)
  for (const other of ['none', '..%2f..%2flock']) {
    expect((await registry.get(`/install/${ownPlatform}/${other}`)).status, other).toBe(404)
  }
  expect((await registry.get('/install/linux-mips/SHA256SUMS')).status).toBe(404)
})

test.runIf(ownAddress)('with a loopback base URL, other machines get an explanation', async () => {
  const registry = await start({ host: '0.0.0.0', allowedHosts: [ownAddress ?? ''] })
  await registry.add()
  const url = `http://${ownAddress}:${registry.port}/install`
  const answer = await registry.get(url)
  expect(answer.status).toBe(403)
  expect(answer.text).toContain('SHOAL_BASE_URL')
  expect(answer.text).not.toContain('shoal_install')
  const list = await registry.get(url.replace('/install', '/v1/releases'))
  expect(list.body).toMatchObject({ releases: [], status: 'loopback_base_url' })
  expect((await registry.get('/install')).text).toContain('shoal_install')
})

describe.each(['curl', 'wget'])('with %s', (downloads) => {
  test.skipIf(!findProgram(downloads))(
    'the script installs a working shoal, saves the URL of the registry, and can be run again',
    async () => {
      const registry = await start()
      const key = makeReleaseKey()
      const release = await registry.add({ key })
      const home = temporaryFolder()
      const { code, stderr } = await registry.install(home, { programs: [downloads] })
      expect(stderr).toContain('Installed shoal 1.0.0')
      expect(stderr).toContain('export PATH=')
      expect(code).toBe(0)
      const shoal = join(home, '.local/bin/shoal')
      expect(await run(shoal, home, '--version')).toBe('1.0.0\n')
      expect(await readFile(join(home, 'saved'), 'utf8')).toBe(registry.url)
      expect(await readFile(join(home, '.local/lib/shoal/release-key.pem'), 'utf8')).toBe(
        release.publicKey,
      )
      expect((await readdir(home)).toSorted()).toEqual(['.local', 'saved', 'shoal-install.sh'])

      await registry.add({ key, version: '1.1.0' })
      await writeFile(join(home, 'saved'), 'https://other.example')
      const again = await registry.install(home, { programs: [downloads] })
      expect(again.stderr).toContain('The saved registry is still https://other.example')
      expect((await registry.install(home, { programs: [downloads] })).code).toBe(0)
      expect(await run(shoal, home, '--version')).toBe('1.1.0\n')
      expect(await readFile(join(home, 'saved'), 'utf8')).toBe('https://other.example')
      expect((await readdir(join(home, '.local/lib/shoal'))).toSorted()).toEqual([
        ...['1.0.0', '1.1.0', 'release-key.pem'],
      ])
    },
  )
})

test('without curl and wget, the script says what it needs, and leaves nothing behind', async () => {
  const registry = await start()
  await registry.add()
  const home = temporaryFolder()
  const { code, stderr } = await registry.install(home, { programs: [] })
  expect(code).toBe(1)
  expect(stderr).toContain('curl or wget is needed')
  expect(await readdir(join(home, '.local/lib/shoal'))).toEqual([])
})

installTest(
  'the script removes files left behind by a killed installation, but none that may be in use',
  async () => {
    const registry = await start()
    await registry.add()
    const home = temporaryFolder()
    const lib = join(home, '.local/lib/shoal')
    const names = ['.install-Killed', '.install-Recent', '.install-elsewhere', 'Foreign']
    const longAgo = new Date(Date.now() - 2 * 86_400_000)
    for (const name of names) {
      await mkdir(join(lib, name), { recursive: true })
      await writeFile(join(lib, name, 'file'), '')
      if (name !== '.install-Recent') await utimes(join(lib, name), longAgo, longAgo)
    }
    expect(await registry.install(home)).toMatchObject({ code: 0 })
    expect((await readdir(lib)).toSorted()).toEqual([
      ...['.install-Recent', '.install-elsewhere', '1.0.0', 'Foreign', 'release-key.pem'],
    ])
  },
)

installTest(
  'the script installs into another folder, whose name may contain spaces and quotes',
  async () => {
    const registry = await start()
    await registry.add()
    const home = temporaryFolder()
    const name = `my "shoal's" folder`
    const { code } = await registry.install(home, { words: ['--prefix', name] })
    expect(code).toBe(0)
    expect(await run(join(home, name, 'bin/shoal'), home, '--version')).toBe('1.0.0\n')
    expect(await registry.install(home, { words: ['--other'] })).toMatchObject({ code: 2 })
  },
)

installTest(
  'a changed archive, a program that does not run and a different key are refused',
  async () => {
    const registry = await start()
    const { folder, files } = await registry.add()
    const archive = files.find(({ name }) => name.endsWith('.tar.gz'))?.name ?? ''
    const home = temporaryFolder()
    const shoal = join(home, '.local/bin/shoal')
    const original = await readFile(join(folder, archive))
    await chmod(join(folder, archive), 0o640)
    await writeFile(join(folder, archive), Buffer.concat([original.subarray(0, -1), Buffer.of(1)]))
    expect((await registry.install(home)).stderr).toMatch(/the SHA-256 of .* is [0-9a-f]{64}, not /)
    await rm(join(folder, archive))
    expect(await registry.install(home)).toMatchObject({ code: 1 })
    await expect(readFile(shoal)).rejects.toThrow('ENOENT')
    expect(await readdir(join(home, '.local/lib/shoal'))).toEqual([])

    await writeFile(join(folder, archive), original)
    expect((await registry.install(home)).code).toBe(0)
    await registry.add({ version: '1.0.1' })
    expect((await registry.install(home)).stderr).toContain('signed with a different key')
    await rm(join(home, '.local/lib/shoal/release-key.pem'))
    await registry.add({ version: '1.0.2', program: '#!/bin/sh\nexit 127\n' })
    expect((await registry.install(home)).stderr).toContain('does not run on this machine')
    expect(await run(shoal, home, '--version')).toBe('1.0.0\n')
  },
)

installTest.each(['node', 'openssl', undefined] as const)(
  'a release that only claims to be signed with the saved key is refused if there is a program that can verify it: %s',
  async (verifier) => {
    if (verifier === 'openssl' && !findProgram('openssl')) return
    const registry = await start()
    const key = makeReleaseKey()
    const { publicKey } = await registry.add({ key })
    const home = temporaryFolder()
    await registry.install(home)
    const installed = join(home, '.local/lib/shoal/1.0.0/node/bin')
    if (verifier === 'node') {
      await mkdir(installed, { recursive: true })
      await symlink(process.execPath, join(installed, 'node'))
    }
    const programs = [downloader, ...(verifier === 'openssl' ? ['openssl'] : [])]
    const hostile = await start()
    const forged = await hostile.add({ version: '1.1.0' })
    const script = (await hostile.get('/install')).text.replace(
      forged.publicKey.trim(),
      publicKey.trim(),
    )
    const { code, stderr } = await hostile.install(home, { script, programs })
    if (verifier === undefined)
      expect(stderr).toContain('The signature of the release was not verified')
    else expect(stderr).toContain("the signature of this registry's release is wrong")
    expect(code).toBe(verifier === undefined ? 0 : 1)
    await registry.add({ key, version: '1.1.0' })
    const right = await registry.install(home, { programs })
    expect(right.code).toBe(0)
    expect(right.stderr.includes('was not verified')).toBe(verifier === undefined)
  },
)

test('a platform without a release and a shoal that was installed in another way are refused', async () => {
  const registry = await start()
  await registry.add({ platform: process.arch === 'x64' ? 'linux-arm64' : 'linux-x64' })
  const home = temporaryFolder()
  expect((await registry.install(home)).stderr).toMatch(/has no shoal for \S+, only for: linux-/)
  await registry.add()
  await mkdir(join(home, '.local/bin'), { recursive: true })
  await writeFile(join(home, '.local/bin/shoal'), 'mine')
  expect((await registry.install(home)).stderr).toContain('was not installed by this script')
  expect(await readFile(join(home, '.local/bin/shoal'), 'utf8')).toBe('mine')
})

slowTest('a script that is cut off at any byte does nothing', async () => {
  const registry = await start()
  await registry.add()
  const { text } = await registry.get('/install')
  const home = temporaryFolder()
  // Each truncated script runs in a shell that has only built-in commands, so any program that it tried to run would
  // cause an error message.
  const lastLine = text.trimEnd().lastIndexOf('\n') + 1
  const ends = Array.from(
    { length: text.trimEnd().length - lastLine },
    (_, more) => lastLine + more,
  )
  const nameAt = text.indexOf('shoal_install')
  const nameEnds = Array.from({ length: 16 }, (_, more) => nameAt + more)
  const others = Array.from({ length: 100 }, (_, step) => Math.floor((lastLine * step) / 100))
  for (const end of [...nameEnds, ...others, ...ends]) {
    const path = join(home, 'cut.sh')
    await writeFile(path, text.slice(0, end))
    const { stdout = '', stderr = '' } = await promisify(execFile)('/bin/sh', [path], {
      cwd: home,
      env: { HOME: home, PATH: '/nonexistent' },
    }).catch((error) => error)
    expect(stdout, String(end)).toBe('')
    expect(
      stderr.replace(/^.*([Ss]yntax error|[Uu]nterminated|unexpected).*$/gm, '').trim(),
      String(end),
    ).toBe('')
    expect(await readdir(home), String(end)).toEqual(['cut.sh'])
  }
  await appendFile(join(home, 'cut.sh'), text.slice(ends.at(-1)))
  const whole = await promisify(execFile)('/bin/sh', [join(home, 'cut.sh')], {
    env: { HOME: home, PATH: '/nonexistent' },
  }).catch((error) => error)
  expect(whole.stderr).toContain('uname')
})
