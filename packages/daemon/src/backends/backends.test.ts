import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { runsSlowTests } from '../../../../testing/slow.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { installBackend, listBackends, removeBackend } from './backends.ts'
import { probeDevice } from './probe-device.ts'

const isOffered = process.platform === 'linux' && process.arch === 'x64'
const never = new AbortController().signal
/** The npm on the `PATH`. */
const npm = ['npm'] as const

test('without a GPU backend, the CPU is used', async () => {
  using folder = temporaryFolder()
  const backends = await listBackends(folder.path)
  expect(backends.map(({ name, isInstalled }) => [name, isInstalled])).toEqual([
    ['cuda', false],
    ['vulkan', false],
  ])
  expect(await probeDevice(folder.path)).toMatchObject({ kind: 'cpu', names: [] })
})

test.runIf(isOffered && runsSlowTests)(
  'the Vulkan backend is installed from npm, found by the runtime, and removed',
  async () => {
    using folder = temporaryFolder()
    const installation = { directory: folder.path, name: 'vulkan' as const, signal: never, npm }
    await installBackend(installation)
    expect(readdirSync(folder.path)).toEqual(['vulkan'])
    const [, vulkan] = await listBackends(folder.path)
    expect(vulkan).toMatchObject({ isInstalled: true, isOffered: true })
    expect(vulkan?.sizeBytes).toBeGreaterThan(10e6)
    expect(importedFrom(folder.path, '@node-llama-cpp/linux-x64-vulkan')).toContain(folder.path)
    // The backend is used if there is a driver for it, and skipped otherwise.
    expect(['cpu', 'vulkan']).toContain((await probeDevice(folder.path)).kind)
    expect(await removeBackend(folder.path, 'vulkan')).toBe(true)
    expect(await removeBackend(folder.path, 'vulkan')).toBe(false)
  },
)

test.runIf(isOffered)('an installation that fails leaves nothing behind', async () => {
  using folder = temporaryFolder()
  const failing = [process.execPath, '-e', 'console.error("no network"); process.exit(7)'] as const
  const installation = { directory: folder.path, name: 'cuda' as const, signal: never }
  await expect(installBackend({ ...installation, npm: failing })).rejects.toThrow(
    'npm exited with code 7: no network',
  )
  expect(readdirSync(folder.path)).toEqual([])
})

test.runIf(isOffered)('a backend of another version counts as not installed', async () => {
  using folder = temporaryFolder()
  const name = '@node-llama-cpp/linux-x64-vulkan'
  const path = join(folder.path, 'vulkan/node_modules', name, 'package.json')
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, JSON.stringify({ name, version: '0.0.1' }))
  const [, vulkan] = await listBackends(folder.path)
  expect(vulkan?.isInstalled).toBe(false)
})

/**
 * Returns the folder in which a program finds a package's binaries after it has called `useBackends` with `directory`.
 */
function importedFrom(directory: string, name: string): string {
  const use = JSON.stringify(join(import.meta.dirname, 'use-backends.ts'))
  const script = `
    const { useBackends } = await import(${use})
    useBackends(${JSON.stringify(directory)})
    const { getBinsDir } = await import(${JSON.stringify(name)})
    console.log(getBinsDir().binsDir)`
  const words = ['--input-type=module', '-e', script]
  return execFileSync(process.execPath, words, { encoding: 'utf8', cwd: import.meta.dirname })
}
