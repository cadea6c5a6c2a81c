/** Adds to the program what it needs to run on a machine without Node: Node itself, and libraries other than libc. */
import { execFile } from 'node:child_process'
import { chmod, copyFile, cp, mkdir, readFile, realpath, rename } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { describeProgram } from '@shoal/releases/make'
import type { Program } from './assemble-program.ts'
import type { InstalledPackage } from './installed-packages.ts'
import type { RuntimePart } from './write-sbom.ts'

type Options = {
  /** The repository. */
  root: string
  /** The folder with the program, which is moved. */
  from: string
  /** The folder to write. */
  into: string
  program: Program
  /** The modification time that all files get when they are packed, in seconds since 1970. */
  timeSeconds: number
}

/** The platform of this machine, such as `linux-x64`, whose native code is installed in the repository. */
export const ownPlatform = `${process.platform}-${process.arch}`

/** `libstdc++` and `libgcc_s` are under the GPL with an exception that allows distributing them with any program. */
const libraries = /^\s*(libstdc\+\+\.so\.6|libgcc_s\.so\.1) => (\S+)/gm

/**
 * Moves the program to `into`, next to Node and the libraries that Node needs, and adds the native packages for this
 * platform. The result runs on any Linux with glibc 2.28 or newer. It contains a list of its files, from which a
 * registry can pack the same archive. Returns what was added, except for the native packages.
 */
export async function assemblePortable(options: Options): Promise<RuntimePart[]> {
  const { root, from, into, program, timeSeconds } = options
  await mkdir(join(into, 'bin'), { recursive: true })
  await rename(from, join(into, 'program'))
  for (const one of program.native.filter(isForOwnPlatform)) {
    await cp(join(root, one.folder), join(into, 'program', one.path), { recursive: true })
  }
  const node = await copyNode(root, join(into, 'node'))
  const libraries = await copyLibraries(node.path, join(into, 'lib'))
  await copyFile(join(root, 'release', 'shoal.sh'), join(into, 'bin', 'shoal'))
  await chmod(join(into, 'bin', 'shoal'), 0o755)
  await describeProgram(into, { version: program.version, platform: ownPlatform, timeSeconds })
  return [node, ...libraries]
}

const isForOwnPlatform = ({ name }: InstalledPackage) =>
  basename(name)
    .replace(/^argon2-/, '')
    .replace(/-gnu$/, '') === ownPlatform

/** Copies the executable of the npm package `node`, unchanged, and its license. */
async function copyNode(root: string, into: string): Promise<RuntimePart> {
  const from = join(root, 'node_modules', 'node', 'node_modules', `node-${ownPlatform}`)
  await mkdir(join(into, 'bin'), { recursive: true })
  await copyFile(join(from, 'bin', 'node'), join(into, 'bin', 'node'))
  await copyFile(join(from, 'LICENSE'), join(into, 'LICENSE'))
  const { version } = JSON.parse(await readFile(join(from, 'package.json'), 'utf8'))
  const cpe = `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`
  return { name: 'node', version, license: 'MIT', path: join(into, 'bin', 'node'), cpe }
}

/** @throws if a library is not installed on this machine */
async function copyLibraries(executable: string, into: string): Promise<RuntimePart[]> {
  await mkdir(into)
  const { stdout } = await promisify(execFile)('ldd', [executable])
  const found = [...stdout.matchAll(libraries)]
  if (found.length !== 2) throw new Error(`libstdc++ and libgcc_s are needed: ${stdout}`)
  const copies = found.map(async ([, name = '', path = '']): Promise<RuntimePart> => {
    const copy = join(into, name)
    await copyFile(path, copy)
    const [, version = ''] = (await realpath(path)).split('.so.')
    return { name, version, license: 'GPL-3.0-or-later WITH GCC-exception-3.1', path: copy }
  })
  return Promise.all(copies)
}
