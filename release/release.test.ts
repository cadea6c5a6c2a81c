/** Makes a release, installs it in an empty folder and uses it there. */
import { execFile } from 'node:child_process'
import { createHash, generateKeyPairSync, verify } from 'node:crypto'
import {
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { freePort } from '../testing/free-port.ts'
import { findProgram, pathWith, systemPath } from '../testing/programs.ts'
import { runsSlowTests, withSlowTests } from '../testing/slow.ts'
import { buildImage } from './build-image.ts'
import { openImageStorage } from './testing/image-storage.ts'
import { type Command, runJourney } from './testing/journey.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
const timeoutMs = 600_000
/** The oldest Node that can run shoal, and the oldest that can run a registry with SQLite. */
const oldestNodes = { client: '22.13.0', registry: '22.16.0' }

const isRoot = process.getuid?.() === 0
const debootstrap = findProgram('debootstrap')
const systemdAnalyze = findProgram('systemd-analyze')
const nothing = Buffer.alloc(0)

describe.runIf(runsSlowTests)(withSlowTests, { timeout: timeoutMs }, () => {
  let folder: string
  let release: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'shoal-release-test-'))
    release = join(folder, 'release')
    const { privateKey } = generateKeyPairSync('ed25519')
    await writeFile(join(folder, 'key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
    await makeRelease(release)
  }, timeoutMs)

  afterAll(() => rm(folder, { recursive: true, force: true }))

  test('two runs produce the same bytes', async () => {
    const again = join(folder, 'again')
    await makeRelease(again, '--level', '0') // without compression, because compression takes half of the time
    expect(await hashContents(again)).toEqual(await hashContents(release))
    await rm(again, { recursive: true })
  })

  describe('the npm package', () => {
    let prefix: string
    let installed: string

    beforeAll(async () => {
      prefix = join(folder, 'prefix')
      await installGlobally(prefix, await findFile(release, '.tgz'))
      installed = join(prefix, 'lib', 'node_modules', 'shoal')
    }, timeoutMs)

    test('is the only one in the release, and takes up at most 150 MB', async () => {
      expect((await readdir(release)).filter((name) => name.endsWith('.tgz'))).toHaveLength(1)
      const { stdout } = await run('du', ['-s', '--block-size=1', prefix])
      expect(Number.parseInt(stdout, 10)).toBeLessThan(150e6)
    })

    test('has only the native code that it lists, and nothing for graphics cards', async () => {
      const files = await readdir(installed, { recursive: true })
      const native = files.filter((name) => name.endsWith('.node'))
      const allowed = /^node_modules\/(@node-llama-cpp\/linux-\w+|@node-rs\/argon2-linux-\w+-gnu)\//
      expect(native.filter((name) => !allowed.test(name))).toEqual([])
      expect(native.length).toBeGreaterThanOrEqual(2)
      expect(
        files.filter(
          (name) => /cuda|vulkan|binding\.gyp/i.test(name) && /\.(so|dll|gyp)\b/.test(name),
        ),
      ).toEqual([])
      expect(files.filter((name) => /(?<!\.d)\.tsx?$/.test(name))).toEqual([])
    })

    test('runs no script when it is installed', async () => {
      const manifests = (await readdir(installed, { recursive: true })).filter((name) =>
        /(^|\/)package\.json$/.test(name),
      )
      const scripts = await Promise.all(
        manifests.map(async (name) => {
          const { scripts = {} } = JSON.parse(await readFile(join(installed, name), 'utf8'))
          const hooks = ['preinstall', 'install', 'postinstall', 'prepare']
          return hooks.filter((hook) => hook in scripts).map((hook) => `${name} ${hook}`)
        }),
      )
      expect(scripts.flat()).toEqual([])
    })

    test('the oldest supported Node publishes, pulls, runs and chats', async () => {
      const client = await installNode(join(folder, 'client-node'), oldestNodes.client)
      const registry = await installNode(join(folder, 'registry-node'), oldestNodes.registry)
      const program = join(prefix, 'bin', 'shoal')
      await runJourney({ registry: [registry, program], shoal: [client, program], folder })

      const home = join(folder, 'refused')
      const refused = await run(client, [program, 'registry', '--port', '0', '--data', home], {
        env: { SHOAL_HOME: home },
      }).catch((error) => error)
      expect(refused.stderr).toContain('run the registry on Node 22.16 or newer')
    })
  })

  test('the checksums and the signature are correct', async () => {
    await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: release })
    const [sums, signature, key] = await Promise.all(
      ['SHA256SUMS', 'SHA256SUMS.sig', 'SHA256SUMS.pem'].map((name) =>
        readFile(join(release, name)),
      ),
    )
    expect(verify(null, sums ?? nothing, String(key), signature ?? nothing)).toBe(true)
    expect(String(sums).match(/ {2}shoal\S*$/gm)).toHaveLength((await readdir(release)).length - 3)
  })

  test('the list of contents has each package with its version, license and hash', async () => {
    const text = await readFile(await findFile(release, '.cdx.json'), 'utf8')
    const { components } = JSON.parse(text) as { components: Record<string, unknown>[] }
    expect(components.find(({ name }) => name === 'fastify')).toMatchObject({
      purl: expect.stringMatching(/^pkg:npm\/fastify@5\./),
      licenses: [{ expression: 'MIT' }],
      hashes: [{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }],
    })
    expect(components.length).toBeGreaterThan(300)
  })

  describe.runIf(isRoot)('as root, so that the root folder can be changed', () => {
    test('the archive with Node needs only a shell and libc', async () => {
      const place = join(folder, 'libc-root')
      await makeLibcRoot(place)
      await run('tar', ['-xzf', await findFile(release, '.tar.gz'), '-C', place])
      const [name = ''] = (await readdir(place)).filter((one) => one.startsWith('shoal-'))
      const shoal: Command = ['chroot', place, `/${name}/bin/shoal`]
      await runJourney({
        registry: shoal,
        shoal,
        folder: join(place, 'tmp'),
        inside: within(place),
      })
    })

    const tools = ['ip', 'curl']
    test.runIf(tools.every(findProgram))(
      'the archive can be installed without internet access',
      async () => {
        const home = join(folder, 'namespace')
        await mkdir(home)
        const script = join(root, 'release', 'testing', 'install-from-registry.sh')
        const { stdout, stderr } = await run('unshare', ['--net', 'sh', script], {
          env: { PATH: pathWith(...tools), HOME: home, RELEASE: release },
        })
        expect(stdout).toContain('http://localhost:8000\n[]\n')
        expect(stdout).toMatch(/^[0-9a-f]{64} {2}shoal-\S+\.tar\.gz$/m) // the release's own checksum
        expect(stderr).toContain('is the newest version at localhost:8000')
      },
    )

    describe.runIf(debootstrap)('in a minimal Debian system', () => {
      let place: string

      beforeAll(async () => {
        place = join(folder, 'debian-root')
        await run(debootstrap ?? '', ['--variant=minbase', 'bookworm', place], {
          env: { ...process.env, PATH: systemPath() },
        })
      }, timeoutMs)

      test.runIf(findProgram('buildah'))(
        'the image starts a registry that is healthy',
        async () => {
          const storage = join(folder, 'images')
          vi.stubEnv('PATH', systemPath()) // for buildah
          onTestFinished(() => void vi.unstubAllEnvs())
          await using images = await openImageStorage(storage)
          const base = await images.addFolder(place, 'localhost/debian:bookworm')
          await buildImage({
            root,
            archive: await findFile(release, '.tar.gz'),
            base,
            name: 'shoal:test',
            into: join(folder, 'image.tar'),
            timeSeconds: 1_700_000_000,
            global: images.global,
          })
          const image = await images.load(join(folder, 'image.tar'))
          expect(image.user).toBe('10001:10001')
          const settings = { SHOAL_HOST: '127.0.0.1', SHOAL_PORT: `${await freePort()}` }
          await expect(image.run(image.healthCheck, settings)).rejects.toThrow('ECONNREFUSED')
          await using registry = image.start(settings)
          await registry.untilPrinted('running at')
          await image.run(image.healthCheck, settings)
        },
      )

      test('the Debian package is installed and runs', async () => {
        const packed = await findFile(release, '.deb')
        await copyFile(packed, join(place, 'shoal.deb'))
        await copyFile('/etc/hosts', join(place, 'etc', 'hosts')) // debootstrap makes none
        await run('chroot', [place, 'dpkg', '--install', '/shoal.deb'])

        const unit = await readFile(join(place, 'usr/lib/systemd/system/shoal.service'), 'utf8')
        const [line = '', start = ''] = /^ExecStart=(\S+) registry$/m.exec(unit) ?? []
        const copy = join(folder, 'shoal.service') // this machine has the units that it refers to, but not the program
        await writeFile(copy, unit.replace(line, line.replace(start, join(place, start))))
        if (systemdAnalyze) await run(systemdAnalyze, ['verify', copy])
        const { stdout } = await run('chroot', [place, 'id', '--user', 'shoal'])
        const uid = Number(stdout)
        const shoal: Command = ['chroot', '--userspec=shoal:shoal', place, start]
        await runJourney({
          registry: shoal,
          shoal,
          folder: join(place, 'var', 'tmp'),
          inside: within(place),
          owner: {
            uid,
            gid: Number((await run('chroot', [place, 'id', '--group', 'shoal'])).stdout),
          },
          env: { XDG_CACHE_HOME: '/tmp' },
        })
        expect(uid).toBeGreaterThan(0)

        await run('chroot', [place, 'dpkg', '--purge', 'shoal'])
        await expect(stat(join(place, 'usr', 'lib', 'shoal'))).rejects.toThrow('ENOENT')
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

  /** Installs from an empty folder outside the repository. */
  async function installGlobally(prefix: string, tarball: string) {
    const home = await mkdtemp(join(folder, 'npm-'))
    await mkdir(prefix)
    await runNpm(home, ['install', '--global', '--prefix', prefix, tarball])
    await rm(home, { recursive: true })
  }

  /** Installs this version of Node in `place`, and returns its path. */
  async function installNode(place: string, version: string): Promise<string> {
    await mkdir(place)
    await writeFile(join(place, 'package.json'), '{ "private": true }')
    const name = `node-${process.platform}-${process.arch}`
    await runNpm(place, ['install', '--ignore-scripts', `${name}@${version}`])
    return join(place, 'node_modules', name, 'bin', 'node')
  }

  /** Runs npm with an empty cache. The user's npm settings apply, such as the certificate authority of a proxy. */
  async function runNpm(home: string, words: string[]) {
    const cache = { npm_config_cache: join(home, '.cache') }
    await run('npm', [...words, '--no-audit', '--no-fund', '--no-update-notifier'], {
      cwd: home,
      env: { ...process.env, ...cache },
    })
  }
})

/** Returns a function that converts paths to those that programs with `place` as their root folder see. */
const within = (place: string) => (path: string) => path.slice(place.length)

/** Makes a root folder with a shell, the commands that `shoal.sh` uses, and glibc. */
async function makeLibcRoot(place: string): Promise<void> {
  for (const name of ['dev', 'etc', 'tmp']) await mkdir(join(place, name), { recursive: true })
  // All current distributions have these links. node-llama-cpp looks for libc in /usr/lib.
  for (const name of ['bin', 'lib', 'lib64']) {
    await mkdir(join(place, 'usr', name), { recursive: true })
    await symlink(`usr/${name}`, join(place, name))
  }
  await run('mknod', ['-m', '666', join(place, 'dev', 'null'), 'c', '1', '3'])
  await copyFile('/etc/hosts', join(place, 'etc', 'hosts'))
  const programs = ['sh', 'readlink', 'uname'].map((name) => findProgram(name) ?? name)
  for (const program of programs) await copyFile(program, join(place, 'bin', basename(program)))
  const node = await run('ldd', [process.execPath])
  const commands = await run('ldd', programs)
  const libraries =
    `${node.stdout}${commands.stdout}`.match(/\/\S+\/(ld-linux|lib)[\w-]*\.so\S*/g) ?? []
  for (const path of new Set(libraries)) {
    if (/libstdc|libgcc/.test(path)) continue
    await mkdir(join(place, dirname(path)), { recursive: true })
    await copyFile(path, join(place, path))
  }
  // llama.cpp and argon2 load this library.
  const more = 'librt.so.1'
  const folder = dirname([...libraries].find((path) => path.includes('libc.so')) ?? '')
  await copyFile(join(folder, more), join(place, folder, more))
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
