/** Packs small programs in a separate process, as in production. This can take a long time on a busy machine. */
import { execFile } from 'node:child_process'
import { createPublicKey } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { appendFile, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { slowTest } from '../../../../testing/slow-test.ts'
import { openReleases } from '../offer/releases.ts'
import { makeFolder, makeProgram } from '../testing/make-program.ts'
import { makeReleaseKey, writeRelease } from '../testing/write-release.ts'
import { toSigningKey } from './own-key.ts'
import { packOwnProgram } from './pack-own-program.ts'
import { findProgramFolder } from './program-folder.ts'

const platform = `${process.platform}-${process.arch}`
const timeoutMs = 180_000
const run = promisify(execFile)
const seed = '0123456789abcdef'.repeat(4)

/** Opens an empty folder of releases. Returns the releases, log messages, and functions that pack and add releases. */
async function scene() {
  const dataDirectory = await makeFolder()
  const directory = join(dataDirectory, 'releases')
  const releases = openReleases(directory)
  const messages: string[] = []
  const note = (_: object, message: string) => void messages.push(message)
  const log = { info: note, warn: note }
  return {
    directory,
    releases,
    messages,
    pack(
      programFolder: string,
      {
        signal = new AbortController().signal,
        node = dataDirectory,
        onStart = undefined as (() => void) | undefined,
      } = {},
    ) {
      return packOwnProgram(
        {
          programFolder,
          dataDirectory: node,
          releases,
          log,
          readKeySeed: async () => seed,
          readSpace: async () => ({ freeBytes: 1e9, reserveBytes: 0 }),
        },
        signal,
        onStart,
      )
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
    const { pack, add, releases, listVersions } = await scene()
    await add({ key: toSigningKey(seed), platform: 'darwin-arm64' })
    await pack(await makeProgram('1.0.0'))
    const found = await releases.listOffered(() => undefined)
    expect(found.map(({ archive }) => archive.platform)).toEqual(['darwin-arm64', platform])
    await add({ version: '1.0.0', platform: 'win32-x64' }) // added by the operator
    await pack(await makeProgram('1.1.0'))
    expect(await listVersions()).toEqual(['1.0.0', '1.0.0', '1.0.0'])
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
    expect(findProgramFolder('/opt/shoal/program/node_modules/@shoal/releases/src')).toBe(
      '/opt/shoal',
    )
    expect(findProgramFolder('/home/ana/shoal/packages/releases/src')).toBeUndefined()
    expect(findProgramFolder('/lib/node_modules/shoal/node_modules/@shoal/releases/src')).toBe(
      undefined,
    )
  })

  test('signs with the key that belongs to its seed', () => {
    const [one, other] = [toSigningKey(seed), toSigningKey(seed)]
    expect(one.asymmetricKeyType).toBe('ed25519')
    expect(createPublicKey(one).equals(createPublicKey(other))).toBe(true)
    expect(one.equals(toSigningKey(seed.replace(/^./, 'f')))).toBe(false)
  })
})
