import { execFile } from 'node:child_process'
import { readdir, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { findDownloader, pathWith } from '../../../../testing/programs.ts'
import { canMount, smallDisk } from '../../../../testing/small-disk.ts'
import { makeFolder, makeProgram } from '../../../releases/src/testing/make-program.ts'
import type { RegistryConfig } from '../config.ts'
import { temporaryLog } from '../testing/temporary-log.ts'
import { startTestRegistry } from '../testing/test-registry.ts'

// The program is packed in a separate process, which can take a long time on a busy machine.
const timeoutMs = 180_000
const soon = { timeout: timeoutMs - 10_000 }
const run = promisify(execFile)
const downloader = findDownloader() ?? ''
const isLinux = process.platform === 'linux' // there are no archives for other platforms

describe.runIf(isLinux)('a registry that runs from a release', { timeout: timeoutMs }, () => {
  test.skipIf(!downloader)(
    'offers its own program, and a newer one after an upgrade, signed with the same key',
    async () => {
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
        await run('sh', [join(home, 'install.sh')], {
          env: { PATH: pathWith(downloader), HOME: home },
        })
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
    },
  )

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
