/** The sources of the installed llama.cpp, from the npm package `node-llama-cpp`. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
const packagePath = 'node_modules/node-llama-cpp'
const bundlePath = 'llama/gitRelease.bundle'

/** The checked-out sources, in a temporary folder. Disposing this object removes the folder. */
export type LlamaSource = AsyncDisposable & {
  /** The folder that contains the sources of llama.cpp. */
  path: string
  /** The folder for build output. */
  buildPath: string
}

/** Checks out the sources. Rejects if the package cannot be downloaded, or if git is missing. */
export async function openLlamaSource(): Promise<LlamaSource> {
  const folder = await mkdtemp(join(tmpdir(), 'shoal-llama.cpp-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    const path = join(folder, 'llama.cpp')
    await run('git', ['clone', '--quiet', await findBundle(folder), path])
    return { path, buildPath: folder, [Symbol.asyncDispose]: remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Returns the path of the git bundle: in the installed package, or in a copy of the package, unpacked in `folder`. */
async function findBundle(folder: string): Promise<string> {
  const installed = join(root, packagePath, bundlePath)
  if (existsSync(installed)) return installed
  await unpackPackage(folder) // `npm ci` removes the bundle: see scripts/remove-unneeded-files.js
  return join(folder, 'package', bundlePath)
}

/** Gets the package from npm's cache or registry, and verifies it against `package-lock.json`. */
async function unpackPackage(folder: string): Promise<void> {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const { version, integrity } = lock.packages[packagePath]
  const pack = ['pack', `node-llama-cpp@${version}`, '--prefer-offline', '--silent']
  const { stdout } = await run('npm', [...pack, '--pack-destination', folder], { cwd: folder })
  const tarball = join(folder, stdout.trim())
  const digest = createHash('sha512')
    .update(await readFile(tarball))
    .digest('base64')
  if (integrity !== `sha512-${digest}`)
    throw new Error(`${stdout.trim()} does not match the hash in package-lock.json`)
  await run('tar', ['-xzf', tarball, '-C', folder, `package/${bundlePath}`])
}
