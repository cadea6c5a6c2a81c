import { execFile } from 'node:child_process'
import { copyFile, mkdir, symlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { findProgram } from '../../testing/programs.ts'

const run = promisify(execFile)

/**
 * Makes a root folder with a shell, the commands that `shoal.sh` uses, and glibc, but not libstdc++. Requires root.
 *
 * @param nodes the executables of Node that will run in the folder
 */
export async function makeLibcRoot(place: string, nodes: readonly string[]): Promise<void> {
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
  const { stdout } = await run('ldd', [...nodes, ...programs])
  const libraries = stdout.match(/\/\S+\/(ld-linux|lib)[\w-]*\.so\S*/g) ?? []
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

/** The PATH of programs that run in another root folder, and of `chroot` itself. The tests' own PATH does not exist there. */
export const standardPath = '/usr/sbin:/usr/bin:/sbin:/bin'

/** Returns a function that converts paths to those that programs with `place` as their root folder see. */
export const within = (place: string) => (path: string) => path.slice(place.length)
