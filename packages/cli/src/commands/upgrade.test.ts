import { execFile } from 'node:child_process'
import { once } from 'node:events'
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { findDownloader, pathWith } from '../../../../testing/programs.ts'
import { makeReleaseKey, writeRelease } from '../../../releases/src/testing/write-release.ts'
import { realRegistry } from '../testing/real-registry.ts'
import { shoalHere } from '../testing/shoal-here.ts'

const run = promisify(execFile)
/** The program with which the install script downloads; empty if none is installed. */
const downloader = findDownloader() ?? ''
const testAfterInstall = test.skipIf(!downloader)

/** Installs shoal 1.0.0 with the registry's script. */
async function scene() {
  const home = await mkdtemp(join(tmpdir(), 'shoal-upgrade-'))
  const registry = await realRegistry()
  onTestFinished(async () => {
    await registry[Symbol.asyncDispose]()
    await rm(home, { recursive: true })
  })
  const key = makeReleaseKey()
  const lib = join(home, '.local/lib/shoal')

  async function add(contents: Partial<Parameters<typeof writeRelease>[0]> = {}) {
    await using made = await writeRelease({ key, ...contents })
    const words = ['admin', 'releases', 'add', made.path, '--yes']
    const added = await shoalHere([...words, '--data', registry.dataDirectory], { home })
    expect(added.stderr).toContain('Added')
    const { version = '1.0.0' } = contents
    const releases = join(registry.dataDirectory, 'releases')
    const name = (await readdir(releases)).find((one) => one.startsWith(`${version}-`))
    return join(releases, name ?? '')
  }

  await add()
  const script = join(home, 'shoal-install.sh')
  await writeFile(script, await (await fetch(`${registry.url}/install`)).text())
  await run('sh', [script], { env: { HOME: home, PATH: pathWith(downloader) } })
  const command = join(home, '.local/bin/shoal')
  return {
    lib,
    add,
    registry,
    getVersion: async () => (await run(command)).stdout.replace(/^shoal (\S+):.*\n$/, '$1'),
    upgrade: async (...words: string[]) =>
      shoalHere(['upgrade', ...words], {
        home,
        registry: registry.url,
        programFolder: join(await realpath(command), '..', '..', 'program', 'packages', 'cli'),
      }),
  }
}

testAfterInstall(
  'shoal upgrade asks, installs a newer version and keeps the previous one',
  async () => {
    const { add, lib, upgrade, getVersion } = await scene()
    expect(await upgrade()).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('1.0.0 is the newest'),
    })
    await add({ version: '1.1.0' })
    const left = join(lib, '.install-of-a-killed-process')
    await mkdir(left)
    await utimes(left, 0, 0)
    expect((await upgrade()).exitCode).toBe(2) // not confirmed
    expect(await getVersion()).toBe('1.0.0')
    const upgraded = await upgrade('--yes', '--json')
    expect(JSON.parse(upgraded.stdout)).toEqual({ from: '1.0.0', to: '1.1.0', upgraded: true })
    expect(await getVersion()).toBe('1.1.0')
    await add({ version: '1.2.0' })
    expect((await upgrade('--yes')).stderr).toContain('Upgraded shoal from 1.1.0 to 1.2.0')
    expect(await getVersion()).toBe('1.2.0')
    expect((await readdir(lib)).toSorted()).toEqual(['1.1.0', '1.2.0', 'release-key.pem'])
  },
)

testAfterInstall(
  'shoal upgrade refuses another key, a changed archive and a program that does not run',
  async () => {
    const { add, lib, upgrade, getVersion } = await scene()
    const otherKey = await add({ version: '1.1.0', key: makeReleaseKey() })
    expect(await upgrade('--yes')).toMatchObject({
      exitCode: 7,
      stderr: expect.stringContaining('signed with a different key'),
    })
    await rm(otherKey, { recursive: true })

    const changed = await add({ version: '1.1.0' })
    const names = await readdir(changed)
    const archive = names.find((name) => name.endsWith('.tar.gz')) ?? ''
    const content = await readFile(join(changed, archive))
    await writeFile(join(changed, archive), Buffer.concat([content.subarray(0, -1), Buffer.of(7)]))
    expect(await upgrade('--yes')).toMatchObject({
      exitCode: 7,
      stderr: expect.stringContaining('The SHA-256 of'),
    })
    await rm(changed, { recursive: true })

    const broken = await add({ version: '1.1.0', program: '#!/bin/sh\nexit 1\n' })
    expect((await upgrade('--yes')).exitCode).toBe(1)
    await rm(broken, { recursive: true })
    expect((await readdir(lib)).toSorted()).toEqual(['1.0.0', 'release-key.pem'])

    expect(await getVersion()).toBe('1.0.0')
  },
)

testAfterInstall(
  'shoal upgrade refuses a wrong signature, which only a hostile registry would send',
  async () => {
    const { add, upgrade, getVersion } = await scene()
    const files = await add({ version: '1.1.0' })
    const server = createServer(async ({ url = '' }, response) => {
      const name = basename(url)
      const content = await readFile(join(files, name))
      response.end(name.endsWith('.sig') ? Buffer.alloc(64) : content)
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const refused = await upgrade('--yes', '--registry', `http://127.0.0.1:${port}`)
    expect(refused).toMatchObject({
      exitCode: 7,
      stderr: expect.stringMatching(/The signature of the release at .* is wrong/),
    })
    expect(await getVersion()).toBe('1.0.0')
  },
)

testAfterInstall('shoal upgrade never installs an older version', async () => {
  const { add, registry, upgrade, getVersion } = await scene()
  const newer = await add({ version: '2.0.0' })
  await upgrade('--yes')
  expect(await getVersion()).toBe('2.0.0')
  await rm(newer, { recursive: true })
  const refused = await upgrade('--yes')
  expect(refused).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('older than the installed version, 2.0.0'),
  })
  expect(await getVersion()).toBe('2.0.0')
  await rm(join(registry.dataDirectory, 'releases'), { recursive: true })
  expect((await upgrade('--yes')).exitCode).toBe(3)
})

testAfterInstall(
  "shoal upgrade refuses an installation that a registry's script did not make, with advice",
  async () => {
    const { registry } = await scene()
    const home = await mkdtemp(join(tmpdir(), 'shoal-upgrade-'))
    onTestFinished(() => rm(home, { recursive: true }))
    const { exitCode, stderr } = await shoalHere(['upgrade'], { home, registry: registry.url })
    expect(exitCode).toBe(1)
    expect(stderr).toContain('npm or apt')
  },
)
