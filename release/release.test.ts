/** Makes a release, installs it in an empty place and uses it there. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runsSlowTests, withSlowTests } from '../testing/slow.ts'
import { runJourney } from './testing/journey.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
const timeoutMs = 600_000
/** The oldest Node that can run shoal, and the oldest that can run a registry with SQLite. */
const oldestNodes = { client: '22.13.0', registry: '22.16.0' }

describe.runIf(runsSlowTests)(withSlowTests, { timeout: timeoutMs }, () => {
  let folder: string
  let release: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'shoal-release-test-'))
    release = join(folder, 'release')
    await makeRelease(release)
  }, timeoutMs)

  afterAll(() => rm(folder, { recursive: true, force: true }))

  test('two runs give the same bytes', async () => {
    const again = join(folder, 'again')
    await makeRelease(again)
    expect(await hashFiles(again)).toEqual(await hashFiles(release))
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

    test('is the only one of its kind, and takes up at most 150 MB', async () => {
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

      const refused = await run(client, [program, 'registry', '--port', '0', '--data', folder], {
        env: { SHOAL_HOME: folder },
      }).catch((error) => error)
      expect(refused.stderr).toContain('run the registry on Node 22.16 or newer')
    })
  })

  const makeRelease = (into: string) =>
    run(process.execPath, [join(root, 'release', 'run.ts'), '--into', into])

  /** Installs with an empty home and an empty cache, outside the repository. */
  async function installGlobally(prefix: string, tarball: string) {
    const home = await mkdtemp(join(folder, 'npm-'))
    await mkdir(prefix)
    await runNpm(home, ['install', '--global', '--prefix', prefix, tarball])
    await rm(home, { recursive: true })
  }

  /** Returns the path of the Node of this version, which is installed in `place`. */
  async function installNode(place: string, version: string): Promise<string> {
    await mkdir(place)
    await writeFile(join(place, 'package.json'), '{ "private": true }')
    const name = `node-${process.platform}-${process.arch}`
    await runNpm(place, ['install', '--ignore-scripts', `${name}@${version}`])
    return join(place, 'node_modules', name, 'bin', 'node')
  }

  async function runNpm(home: string, words: string[]) {
    const { PATH, TMPDIR, NPM_CONFIG_REGISTRY } = process.env
    await run('npm', [...words, '--no-audit', '--no-fund', '--no-update-notifier'], {
      cwd: home,
      env: {
        PATH,
        HOME: home,
        npm_config_cache: join(home, '.cache'),
        ...(TMPDIR && { TMPDIR }),
        ...(NPM_CONFIG_REGISTRY && { NPM_CONFIG_REGISTRY }),
      },
    })
  }
})

async function findFile(folder: string, ending: string): Promise<string> {
  const name = (await readdir(folder)).find((one) => one.endsWith(ending))
  if (name === undefined) throw new Error(`${folder} has no file that ends with ${ending}`)
  return join(folder, name)
}

async function hashFiles(folder: string): Promise<Record<string, string>> {
  const names = (await readdir(folder)).toSorted()
  const hashes = names.map(async (name) => {
    const path = join(folder, name)
    expect((await stat(path)).size).toBeGreaterThan(0)
    return [
      name,
      createHash('sha256')
        .update(await readFile(path))
        .digest('hex'),
    ] as const
  })
  return Object.fromEntries(await Promise.all(hashes))
}
