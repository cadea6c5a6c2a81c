/** Packs small programs in a separate process, as in production. This can take a long time on a busy machine. */
import { execFile } from 'node:child_process'
import { createPublicKey } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import {
  appendFile,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { slowTest } from '../../../../testing/slow-test.ts'
import { canMount, smallDisk } from '../../../../testing/small-disk.ts'
import type { RegistryConfig } from '../config.ts'
import { findProgramFolder } from '../program-folder.ts'
import { temporaryLog } from '../testing/temporary-log.ts'
import { startTestRegistry } from '../testing/test-registry.ts'
import { makeReleaseKey, writeRelease } from '../testing/write-release.ts'
import { readOwnKey } from './own-key.ts'
import { packOwnProgram } from './pack-own-program.ts'
import { describeProgram } from './program.ts'
import { openReleases } from './releases.ts'

const platform = `${process.platform}-${process.arch}`
const timeoutMs = 180_000
const soon = { timeout: timeoutMs - 10_000 }
const run = promisify(execFile)

async function makeFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'shoal-pack-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

/** Writes the files of a release whose program prints its version. Returns their folder. */
async function makeProgram(version = '1.0.0') {
  const folder = await makeFolder()
  await mkdir(join(folder, 'bin'))
  await writeFile(join(folder, 'bin', 'shoal'), `#!/bin/sh\necho ${version}\n`, { mode: 0o700 })
  const deep = join(folder, 'program', 'a folder', 'x'.repeat(120))
  await mkdir(deep, { recursive: true })
  await writeFile(join(deep, 'äöü.txt'), 'a text')
  await describeProgram(folder, { version, platform, timeSeconds: 1_700_000_000 })
  return folder
}

/** Starts a registry. Returns its database, releases and log messages, and functions that pack and add releases. */
async function scene({ releasesDirectory = '' } = {}) {
  const registry = await startTestRegistry()
  onTestFinished(() => registry.close())
  const { db } = await registry.connect()
  const dataDirectory = await makeFolder()
  const directory = releasesDirectory || join(dataDirectory, 'releases')
  const releases = openReleases({ releasesDirectory: directory, dataDirectory })
  const messages: string[] = []
  const log = { info: note, warn: note }
  function note(_: unknown, message?: string) {
    if (message !== undefined) messages.push(message)
  }
  return {
    db,
    directory,
    releases,
    messages,
    async pack(
      programFolder: string,
      {
        signal = new AbortController().signal,
        node = dataDirectory,
        reserveBytes = 0,
        onStart = undefined as (() => void) | undefined,
      } = {},
    ) {
      const config = { programFolder, dataDirectory: node, reserveBytes }
      await packOwnProgram({ config, db, releases, log }, signal, onStart)
    },
    async add(contents: Partial<Parameters<typeof writeRelease>[0]> = {}) {
      await using made = await writeRelease({ key: makeReleaseKey(), ...contents })
      await releases.add([made.path], async () => undefined)
    },
    listVersions: async () => (await releases.list()).map(({ version }) => version),
    listFolders: () => readdir(directory),
  }
}

const isLinux = process.platform === 'linux' // there are no archives for other platforms

describe.runIf(isLinux)('a registry that runs from a release', { timeout: timeoutMs }, () => {
  test('offers its own program, and a newer one after an upgrade, signed with the same key', async () => {
    const first = await makeProgram('1.0.0')
    await writeFile(join(first, 'program', 'secret.txt'), 'an operator’s file')
    const { file, lines } = temporaryLog()
    const registry = await startTestRegistry({ programFolder: first, log: { file } })
    onTestFinished(() => registry.close())
    const untilOffered = (version: string) =>
      expect
        .poll(async () => (await registry.get('/install')).text, soon)
        .toContain(`version='${version}'`)
    await untilOffered('1.0.0')
    const home = await makeFolder()
    const shoal = join(home, '.local/bin/shoal')
    const install = async () => {
      await writeFile(join(home, 'install.sh'), (await registry.get('/install')).text)
      await run('sh', [join(home, 'install.sh')], { env: { PATH: process.env.PATH, HOME: home } })
      return (await run(shoal)).stdout
    }
    expect(await install()).toBe('1.0.0\n')
    const unpacked = join(home, '.local/lib/shoal/1.0.0')
    const files = await readdir(unpacked, { recursive: true })
    expect(files).toContain('release.json')
    expect(files.find((name) => name.endsWith('äöü.txt'))).toBeDefined()
    expect(files.filter((name) => name.includes('secret'))).toEqual([])

    await registry.stop()
    await registry.start({ programFolder: await makeProgram('1.1.0'), log: { file } })
    await untilOffered('1.1.0')
    expect(await install()).toBe('1.1.0\n') // the script would refuse a different key
    await registry.stop() // writes the last lines of the log
    const packed = lines().filter(({ msg }) => String(msg).startsWith('this program was packed'))
    expect(packed.map(({ release }) => String(release).split('-')[0])).toEqual(['1.0.0', '1.1.0'])
  })

  test('packs each version once, and no version older than the one that it offers', async () => {
    const { pack, listVersions, listFolders } = await scene()
    const program = await makeProgram('1.1.0')
    await pack(program)
    const folders = await listFolders()
    let starts = 0
    const onStart = () => {
      starts += 1
    }
    await pack(program, { onStart })
    await pack(await makeProgram('1.0.0'), { onStart })
    expect(starts).toBe(0)
    expect(await listFolders()).toEqual(folders)
    expect(await listVersions()).toEqual(['1.1.0'])
  })

  test('packs nothing if the operator’s releases are signed with a different key, and logs a message', async () => {
    const { pack, add, messages, listVersions } = await scene()
    await add({ version: '1.0.0' })
    await pack(await makeProgram('1.0.0'))
    expect(messages).toEqual([])
    await pack(await makeProgram('1.1.0'))
    expect(messages).toEqual([expect.stringContaining('signed with a different key')])
    expect(await listVersions()).toEqual(['1.0.0'])
  })

  test('adds its program to releases for other platforms that it has signed', async () => {
    const { db, pack, add, releases, listVersions } = await scene()
    await add({ key: await readOwnKey(db), platform: 'darwin-arm64' })
    await pack(await makeProgram('1.0.0'))
    const found = await releases.listOffered(() => undefined)
    expect(found.map(({ archive }) => archive.platform)).toEqual(['darwin-arm64', platform])
    await add({ version: '1.0.0', platform: 'win32-x64' }) // added by the operator
    await pack(await makeProgram('1.1.0'))
    expect(await listVersions()).toEqual(['1.0.0', '1.0.0', '1.0.0'])
  })

  test('reports at /install that it is packing, and leaves no files behind when it is closed', async () => {
    const programFolder = await makeProgram()
    await truncate(join(programFolder, 'bin', 'shoal'), 50e9) // takes minutes to pack
    const registry = await startTestRegistry({ programFolder, reserveBytes: 0 })
    onTestFinished(() => registry.close())
    await expect
      .poll(async () => (await registry.get('/install')).text, soon)
      .toContain('is preparing shoal')
    await registry.stop()
    expect(await readdir(join(registry.config.dataDirectory, 'releases'))).toEqual([])
  })

  test('two nodes that share a folder pack the same bytes at the same time, and only one release is added', async () => {
    const { pack, listFolders, releases } = await scene()
    const program = await makeProgram()
    const copy = join(await makeFolder(), 'copied at another time')
    await cp(program, copy, { recursive: true })
    await run('chmod', ['-R', 'g+w,o-rwx', copy])
    await Promise.all([pack(program, { node: 'one' }), pack(copy, { node: 'other' })])
    expect(await listFolders()).toHaveLength(1)
    expect(await releases.list()).toHaveLength(1)
  })

  test('leaves no files behind when it is stopped, and removes those that a killed run has left behind', async () => {
    const { pack, listFolders, directory } = await scene()
    const program = await makeProgram()
    const abort = new AbortController()
    let draft = ''
    const packing = pack(program, {
      signal: abort.signal,
      onStart: async () => {
        await expect.poll(async () => (draft = (await listFolders())[0] ?? '')).not.toBe('')
        abort.abort()
      },
    })
    await expect(packing).rejects.toThrow('abort')
    expect(draft).toMatch(/^\.adding-/)
    expect(await listFolders()).toEqual([])

    await mkdir(join(directory, draft))
    await writeFile(join(directory, draft, 'part'), 'of an archive')
    await pack(program)
    expect(await listFolders()).toEqual([expect.stringMatching(/^1\.0\.0-/)])
  })

  slowTest(
    'packs a changed program, but not if files are missing or outside its folder',
    async () => {
      const { pack, listFolders, listVersions } = await scene()
      const incomplete = await makeProgram('2.0.0')
      await rm(join(incomplete, 'program'), { recursive: true })
      await expect(pack(incomplete)).rejects.toThrow('tar exited with code 2')
      const hostile = await makeProgram('2.0.0')
      const description = join(hostile, 'release.json')
      const text = await readFile(description, 'utf8')
      for (const [from, to] of [
        ['"bin/shoal"', '"bin/shoal", "../outside"'],
        ['"bin/shoal"', '"bin/shoal", "/etc/passwd"'],
        ['2.0.0', '2.0.0,x'],
        ['{', '['],
      ] as const) {
        await writeFile(description, text.replace(from, to))
        await expect(pack(hostile), to).rejects.toThrow(/release\.json does not|JSON/)
      }
      const replaced = await makeProgram('2.0.0')
      const newer = text.replace('2.0.0', '2.0.1')
      const onStart = () => writeFileSync(join(replaced, 'release.json'), newer)
      await expect(pack(replaced, { onStart })).rejects.toThrow('was replaced')
      expect(await listFolders()).toEqual([])

      const changed = await makeProgram('2.0.0')
      await appendFile(join(changed, 'bin', 'shoal'), 'echo changed\n')
      await pack(changed)
      expect(await listVersions()).toEqual(['2.0.0'])
    },
  )

  test('does nothing in a clone, and finds its folder in a release', async () => {
    const { pack, listFolders } = await scene()
    await pack(await makeFolder())
    await expect(listFolders()).rejects.toThrow('ENOENT')
    expect(findProgramFolder('/opt/shoal/program/node_modules/@shoal/registry/src')).toBe(
      '/opt/shoal',
    )
    expect(findProgramFolder('/home/ana/shoal/packages/registry/src')).toBeUndefined()
    expect(findProgramFolder('/lib/node_modules/shoal/node_modules/@shoal/registry/src')).toBe(
      undefined,
    )
  })

  test('always signs with the same valid key', async () => {
    const { db } = await scene()
    const [one, other] = [await readOwnKey(db), await readOwnKey(db)]
    expect(one.asymmetricKeyType).toBe('ed25519')
    expect(createPublicKey(one).equals(createPublicKey(other))).toBe(true)
  })

  /** Returns the warning that a registry with these settings logs. The registry must run despite the problem. */
  async function readWarning(settings: Partial<RegistryConfig>) {
    const { file, lines } = temporaryLog()
    const registry = await startTestRegistry({ ...settings, log: { file } })
    onTestFinished(() => registry.close())
    const find = () => lines().find(({ msg }) => String(msg).includes('could not be packed'))
    await expect.poll(find, soon).toBeDefined()
    expect((await registry.get('/readyz')).status).toBe(200)
    expect((await registry.get('/install')).text).toContain('npm run release')
    return String(find()?.msg)
  }

  test('warns if its disk is almost full', async () => {
    const programFolder = await makeProgram()
    const warning = await readWarning({ programFolder, reserveBytes: Number.MAX_SAFE_INTEGER })
    expect(warning).toContain('free some space')
  })

  test.runIf(canMount)('warns if its disk becomes full, and leaves no files on it', async () => {
    const disk = await smallDisk('4m')
    onTestFinished(disk.unmount)
    const programFolder = await makeProgram('1.0.0')
    await run('dd', [
      'if=/dev/urandom',
      `of=${join(programFolder, 'bin', 'shoal')}`,
      'bs=1M',
      'count=8',
    ])
    const releasesDirectory = join(disk.path, 'releases')
    expect(await readWarning({ programFolder, releasesDirectory, reserveBytes: 0 })).toContain(
      'free some space',
    )
    expect(await readdir(releasesDirectory)).toEqual([])
  })

  test('warns if it is not allowed to write to its folder of releases', async () => {
    const programFolder = await makeProgram()
    const warning = await readWarning({ programFolder, releasesDirectory: '/sys/shoal-releases' })
    expect(warning).toContain('allow the registry to write to /sys/shoal-releases')
    expect(warning).toContain('shoal admin releases add')
  })
})
