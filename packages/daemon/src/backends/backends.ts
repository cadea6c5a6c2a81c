/**
 * GPU backends: libraries of up to several hundred megabytes, which are installed only on request. Each backend is
 * installed from npm into its own folder.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { ignoreMissing, makeFolder } from '@shoal/files'

export const backendNames = ['cuda', 'vulkan'] as const
export type BackendName = (typeof backendNames)[number]

export type Backend = {
  name: BackendName
  /** Whether this backend exists for this operating system and processor. */
  isOffered: boolean
  isInstalled: boolean
  /** Size on disk; 0 if the backend is not installed. */
  sizeBytes: number
}

const packages: Record<string, Record<BackendName, string[]>> = {
  'linux-x64': {
    cuda: ['@node-llama-cpp/linux-x64-cuda', '@node-llama-cpp/linux-x64-cuda-ext'],
    vulkan: ['@node-llama-cpp/linux-x64-vulkan'],
  },
  'win32-x64': {
    cuda: ['@node-llama-cpp/win-x64-cuda', '@node-llama-cpp/win-x64-cuda-ext'],
    vulkan: ['@node-llama-cpp/win-x64-vulkan'],
  },
}

const listPackages = (name: BackendName): string[] =>
  packages[`${process.platform}-${process.arch}`]?.[name] ?? []

/**
 * Lists all backends, including those that are not installed in `directory` or not offered for this machine. A backend
 * whose version differs from the runtime's counts as not installed.
 */
export async function listBackends(directory: string): Promise<Backend[]> {
  return Promise.all(
    backendNames.map(async (name) => {
      const folder = join(directory, name)
      const isInstalled = (await versionIn(folder, name)) === (await runtimeVersion())
      const sizeBytes = isInstalled ? await sumFileSizes(folder) : 0
      return { name, isOffered: listPackages(name).length > 0, isInstalled, sizeBytes }
    }),
  )
}

type Installation = {
  directory: string
  name: BackendName
  signal: AbortSignal
  /** The command that runs npm: `npm`, or Node with npm's script. */
  npm: readonly [command: string, ...words: string[]]
}

/** Installs a backend with npm. An earlier installation is replaced only after the new one is complete. */
export async function installBackend({ directory, name, signal, npm }: Installation) {
  const version = await runtimeVersion()
  const wanted = listPackages(name).map((one) => `${one}@${version}`)
  if (wanted.length === 0) {
    throw new Error(`there is no ${name} backend for ${process.platform} on ${process.arch}`)
  }
  const coming = join(directory, `${name}.part`)
  await rm(coming, { recursive: true, force: true })
  makeFolder(coming)
  try {
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save', '--no-package-lock']
    await run([...npm, 'install', '--prefix', coming, ...quiet, ...wanted], signal)
    if ((await versionIn(coming, name)) !== version) {
      throw new Error(`npm did not install version ${version} of the ${name} backend`)
    }
    await rm(join(directory, name), { recursive: true, force: true })
    await rename(coming, join(directory, name))
  } finally {
    await rm(coming, { recursive: true, force: true })
  }
}

/** Deletes an installed backend. Returns false if the backend was not installed. */
export async function removeBackend(directory: string, name: BackendName): Promise<boolean> {
  const isThere = (await versionIn(join(directory, name), name)) !== undefined
  await rm(join(directory, name), { recursive: true, force: true })
  return isThere
}

async function run([command = '', ...words]: string[], signal: AbortSignal) {
  const child = spawn(command, words, { stdio: ['ignore', 'ignore', 'pipe'], signal })
  let complaint = ''
  child.stderr.on('data', (text) => {
    complaint += text
  })
  const [code, killedBy] = await once(child, 'close')
  if (code === 0) return
  const how = killedBy ? `was killed by ${killedBy}` : `exited with code ${code}`
  throw new Error(`npm ${how}: ${complaint.trim()}`)
}

/** The runtime's version. Backend binaries work only with the runtime version for which they were built. */
async function runtimeVersion(): Promise<string> {
  const entrance = createRequire(import.meta.url).resolve('node-llama-cpp')
  return (await readVersion(join(dirname(dirname(entrance)), 'package.json'))) ?? ''
}

async function versionIn(folder: string, name: BackendName): Promise<string | undefined> {
  const [first = ''] = listPackages(name)
  return readVersion(join(folder, 'node_modules', first, 'package.json'))
}

async function readVersion(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch(ignoreMissing)
  return text === undefined ? undefined : (JSON.parse(text) as { version: string }).version
}

async function sumFileSizes(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const sizes = await Promise.all(
    files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
