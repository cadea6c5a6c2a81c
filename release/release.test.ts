/**
 * Makes a release, installs it in several ways, and uses it. Observations are kept until packaging changes; see
 * `testing/packaging-test.ts`.
 */
import { execFile } from 'node:child_process'
import { createHash, generateKeyPairSync, verify } from 'node:crypto'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, onTestFinished, vi } from 'vitest'
import { cachedBuild, hashFiles } from '../testing/build-cache.ts'
import { freePort } from '../testing/free-port.ts'
import { findProgram, pathWith, systemPath } from '../testing/programs.ts'
import { runsSlowTests, withSlowTests } from '../testing/slow.ts'
import { buildImage } from './build-image.ts'
import { openImageStorage } from './testing/image-storage.ts'
import { expectOnlyNeeded, listInstalledFiles } from './testing/installed-files.ts'
import { type Command, expectJourney, runJourney } from './testing/journey.ts'
import { makeLibcRoot, standardPath, within } from './testing/libc-root.ts'
import { installOldestNodes } from './testing/oldest-nodes.ts'
import { packagingTest } from './testing/packaging-test.ts'
import { runNpm } from './testing/run-npm.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
const timeoutMs = 1_200_000

const isRoot = process.getuid?.() === 0
const debootstrap = findProgram('debootstrap')
const systemdAnalyze = findProgram('systemd-analyze')
const suite = 'bookworm'

describe.runIf(runsSlowTests)(withSlowTests, { timeout: timeoutMs }, () => {
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'shoal-release-test-'))
    const { privateKey } = generateKeyPairSync('ed25519')
    await writeFile(join(folder, 'key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  // Each of these is made by the first test that has to observe it.
  const getRelease = once(async () => {
    const release = join(folder, 'release')
    await makeRelease(release)
    return release
  })
  const findInRelease = async (ending: string) => findFile(await getRelease(), ending)
  const getPrefix = once(async () => {
    const prefix = join(folder, 'prefix')
    await mkdir(prefix)
    const home = await mkdtemp(join(folder, 'npm-')) // an empty folder outside the repository
    await runNpm(home, ['install', '--global', '--prefix', prefix, await findInRelease('.tgz')])
    return prefix
  })
  const getDebian = once(async () => {
    const place = join(folder, 'debian-root')
    await unpackDebian(place)
    return place
  })

  packagingTest('two runs produce the same bytes', {
    name: 'reproducible',
    async observe() {
      const again = join(folder, 'again')
      await makeRelease(again, '--level', '0') // without compression, because compression takes half of the time
      const hashes = {
        first: await hashContents(await getRelease()),
        second: await hashContents(again),
      }
      await rm(again, { recursive: true })
      return hashes
    },
    check({ first, second }) {
      expect(Object.keys(first).length).toBeGreaterThan(3)
      expect(second).toEqual(first)
    },
  })

  describe('the npm package', () => {
    packagingTest('is the only one in the release, and takes up at most 150 MB', {
      name: 'npm-size',
      async observe() {
        const { stdout } = await run('du', ['-s', '--block-size=1', await getPrefix()])
        return { names: await readdir(await getRelease()), bytes: Number.parseInt(stdout, 10) }
      },
      check({ names, bytes }) {
        expect(names.filter((name) => name.endsWith('.tgz'))).toHaveLength(1)
        expect(bytes).toBeGreaterThan(50e6)
        expect(bytes).toBeLessThan(150e6)
      },
    })

    packagingTest(
      'has only the native code that it lists, nothing for graphics cards, and no script that npm runs',
      {
        name: 'npm-files',
        observe: async () => listInstalledFiles(join(await getPrefix(), 'lib/node_modules/shoal')),
        check: expectOnlyNeeded,
      },
    )

    packagingTest('the oldest supported Node publishes, pulls, runs and chats', {
      name: 'npm-oldest-node',
      async observe() {
        const { client, registry } = await installOldestNodes(folder)
        const program = join(await getPrefix(), 'bin', 'shoal')
        const journey = await runJourney({
          registry: [registry, program],
          shoal: [client, program],
          folder,
        })
        const home = join(folder, 'refused')
        const refused = await run(client, [program, 'registry', '--port', '0', '--data', home], {
          env: { SHOAL_HOME: home },
        }).catch((error) => error)
        return { journey, refusal: String(refused.stderr) }
      },
      check({ journey, refusal }) {
        expectJourney(journey)
        expect(refusal).toContain('run the registry on Node 22.16 or newer')
      },
    })
  })

  packagingTest('the checksums and the signature are correct', {
    name: 'checksums',
    async observe() {
      const cwd = await getRelease()
      const { stdout } = await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd })
      const [sums = '', signature = '', key = ''] = await Promise.all(
        ['SHA256SUMS', 'SHA256SUMS.sig', 'SHA256SUMS.pem'].map((name) =>
          readFile(join(cwd, name), 'latin1'),
        ),
      )
      const names = await readdir(cwd)
      const modes = names.map(async (name) => (await stat(join(cwd, name))).mode & 0o777)
      return { checked: stdout, sums, signature, key, names, modes: await Promise.all(modes) }
    },
    check({ checked, sums, signature, key, names, modes }) {
      expect(new Set(modes)).toEqual(new Set([0o644]))
      expect(verify(null, Buffer.from(sums), key, Buffer.from(signature, 'latin1'))).toBe(true)
      expect(sums.match(/ {2}shoal\S*$/gm)).toHaveLength(names.length - 3)
      expect(checked.match(/: OK$/gm)).toHaveLength(names.length - 3)
      expect(names).toContainEqual(expect.stringMatching(/\.cdx\.json$/))
    },
  })

  describe.runIf(isRoot)('as root, so that the root folder can be changed', () => {
    packagingTest('the archive with Node needs only a shell and libc', {
      name: 'libc-only',
      async observe() {
        const place = join(folder, 'libc-root')
        await makeLibcRoot(place, [process.execPath])
        await run('tar', ['-xzf', await findInRelease('.tar.gz'), '-C', place])
        const [name = ''] = (await readdir(place)).filter((one) => one.startsWith('shoal-'))
        const shoal: Command = ['chroot', place, `/${name}/bin/shoal`]
        return await runJourney({
          registry: shoal,
          shoal,
          folder: join(place, 'tmp'),
          inside: within(place),
          env: { PATH: standardPath },
        })
      },
      check: expectJourney,
    })

    const tools = ['ip', 'curl']
    if (tools.every(findProgram))
      packagingTest('the archive can be installed without internet access', {
        name: 'offline',
        async observe() {
          const home = join(folder, 'namespace')
          await mkdir(home)
          const script = join(root, 'release', 'testing', 'install-from-registry.sh')
          const { stdout, stderr } = await run('unshare', ['--net', 'sh', script], {
            env: { PATH: pathWith(...tools), HOME: home, RELEASE: await getRelease() },
          })
          return { stdout, stderr }
        },
        check({ stdout, stderr }) {
          expect(stdout).toContain('http://localhost:8000\n[]\n')
          expect(stdout).toMatch(/^[0-9a-f]{64} {2}shoal-\S+\.tar\.gz$/m) // the release's own checksum
          expect(stderr).toContain('is the newest version at localhost:8000')
        },
      })

    describe.runIf(debootstrap)('in a minimal Debian system', () => {
      if (findProgram('buildah'))
        packagingTest('the image starts a registry that is healthy', {
          name: 'image',
          async observe() {
            vi.stubEnv('PATH', systemPath()) // for buildah
            onTestFinished(() => void vi.unstubAllEnvs())
            const storage = join(folder, 'images')
            await using images = await openImageStorage(storage)
            const base = await images.addFolder(await getDebian(), `localhost/debian:${suite}`)
            await buildImage({
              root,
              archive: await findInRelease('.tar.gz'),
              base,
              name: 'shoal:test',
              into: join(folder, 'image.tar'),
              timeSeconds: 1_700_000_000,
              global: images.global,
            })
            const image = await images.load(join(folder, 'image.tar'))
            const settings = { SHOAL_HOST: '127.0.0.1', SHOAL_PORT: `${await freePort()}` }
            const checkHealth = () =>
              image.run(image.healthCheck, settings).then(() => 'healthy', String)
            const before = await checkHealth()
            await using registry = image.start(settings)
            await registry.untilPrinted('running at')
            return { user: image.user, before, after: await checkHealth() }
          },
          check({ user, before, after }) {
            expect(user).toBe('10001:10001')
            // Docker, too, looks only at the exit status.
            expect(before).toContain('exit status 1')
            expect(after).toBe('healthy')
          },
        })

      packagingTest('the Debian package is installed and runs', {
        name: 'debian',
        async observe() {
          const place = await getDebian()
          await copyFile(await findInRelease('.deb'), join(place, 'shoal.deb'))
          await copyFile('/etc/hosts', join(place, 'etc', 'hosts')) // debootstrap makes none
          const runInside = (...words: string[]) =>
            run('chroot', [place, ...words], { env: { PATH: standardPath } })
          await runInside('dpkg', '--install', '/shoal.deb')
          const settings = await stat(join(place, 'etc', 'shoal', 'registry.env'))

          const unit = await readFile(join(place, 'usr/lib/systemd/system/shoal.service'), 'utf8')
          const [line = '', start = ''] = /^ExecStart=(\S+) registry$/m.exec(unit) ?? []
          const copy = join(folder, 'shoal.service') // this machine has the units that it refers to, but not the program
          await writeFile(copy, unit.replace(line, line.replace(start, join(place, start))))
          if (systemdAnalyze) await run(systemdAnalyze, ['verify', copy])
          const getId = async (kind: string) =>
            Number((await runInside('id', kind, 'shoal')).stdout)
          const owner = { uid: await getId('--user'), gid: await getId('--group') }
          const shoal: Command = ['chroot', '--userspec=shoal:shoal', place, start]
          const journey = await runJourney({
            registry: shoal,
            shoal,
            folder: join(place, 'var', 'tmp'),
            inside: within(place),
            owner,
            env: { PATH: standardPath, XDG_CACHE_HOME: '/tmp' },
          })
          await runInside('dpkg', '--purge', 'shoal')
          const purged = await stat(join(place, 'usr', 'lib', 'shoal')).catch(String)
          return { uid: owner.uid, journey, purged, settingsMode: settings.mode & 0o777 }
        },
        check({ uid, journey, purged, settingsMode }) {
          expect(settingsMode).toBe(0o600)
          expect(uid).toBeGreaterThan(0)
          expectJourney(journey)
          expect(purged).toContain('ENOENT')
        },
      })
    })
  })

  const makeRelease = (into: string, ...words: string[]) =>
    run(process.execPath, [join(root, 'release', 'run.ts'), '--into', into, ...words], {
      env: {
        ...process.env,
        SHOAL_RELEASE_KEY: join(folder, 'key.pem'),
        SOURCE_DATE_EPOCH: '1700000000', // so that a commit between two runs makes no difference
      },
    })

  /** Unpacks a minimal Debian system. It is made once, because that takes a minute. */
  async function unpackDebian(place: string): Promise<void> {
    const archive = 'root.tar'
    const result = join(folder, 'debian')
    await cachedBuild(
      {
        name: `debian-${suite}`,
        key: hashFiles(root, [], [suite]),
        async build(into) {
          const made = join(folder, 'debootstrap')
          await run(debootstrap ?? '', ['--variant=minbase', suite, made], {
            env: { ...process.env, PATH: systemPath() },
          })
          await run('tar', ['-cf', join(into, archive), '-C', made, '.'])
          await rm(made, { recursive: true })
        },
      },
      result,
    )
    await mkdir(place)
    await run('tar', ['-xpf', join(result, archive), '-C', place])
    await rm(result, { recursive: true })
  }
})

/** Returns a function that calls `make` the first time, and then returns the same promise. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}

async function findFile(folder: string, ending: string): Promise<string> {
  const name = (await readdir(folder)).find((one) => one.endsWith(ending))
  if (name === undefined) throw new Error(`${folder} has no file that ends with ${ending}`)
  return join(folder, name)
}

/** Returns the SHA-256 of each file's uncompressed contents. The checksums of a release depend on the compression. */
async function hashContents(folder: string): Promise<Record<string, string>> {
  const names = (await readdir(folder)).filter((name) => !name.startsWith('SHA256SUMS')).toSorted()
  const hashes: Record<string, string> = {}
  for (const name of names) {
    const content = await readFile(join(folder, name))
    expect(content.length).toBeGreaterThan(0)
    const parts = name.endsWith('.deb') ? readParts(content) : [[name, content] as const]
    for (const [part, bytes] of parts) {
      const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b // RFC 1952
      const original = isPacked ? await promisify(gunzip)(bytes) : bytes
      hashes[`${name} ${part}`] = createHash('sha256').update(original).digest('hex')
    }
  }
  return hashes
}

/** Yields the parts of a Debian package, with their names, times, owners and modes (`man 5 ar`, `man 5 deb`). */
function* readParts(content: Buffer): Generator<readonly [string, Buffer]> {
  for (let at = '!<arch>\n'.length; at < content.length; ) {
    const header = content
      .toString('latin1', at, at + 48)
      .replace('.gz', '')
      .replace(/ +/g, ' ')
    const start = at + 60
    const size = Number(content.toString('latin1', at + 48, at + 58))
    yield [header, content.subarray(start, start + size)]
    at = start + size + (size % 2)
  }
}
