/**
 * `npm run release`: writes the files of a release to `dist/release`, or to the folder given with `--into`. Replaces
 * the folder if it exists. `npm run release -- image` adds a container image, based on the image given with `--base`.
 * `--level` is the compression level, 0 to 9.
 */
import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { listFiles, packArchive, readSigningKey, signRelease } from '@shoal/releases/make'
import { assemblePortable, ownPlatform } from './assemble-portable.ts'
import { assembleProgram, type Program } from './assemble-program.ts'
import { buildImage } from './build-image.ts'
import { debianArchitecture, packDebian } from './pack-debian.ts'
import { readReleaseTime } from './release-time.ts'
import { writeSbom } from './write-sbom.ts'

const root = join(import.meta.dirname, '..')
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    into: { type: 'string' },
    base: { type: 'string', default: 'docker.io/library/debian:bookworm-slim' },
    level: { type: 'string', default: '6' },
  },
})
const [unknown] = positionals.filter((word) => word !== 'image')
if (unknown !== undefined) throw new Error(`unknown part of a release: ${unknown}`)
if (!/^[0-9]$/.test(options.level)) throw new Error('--level must be a number from 0 to 9')
const level = Number(options.level)
const output = resolve(options.into ?? join(root, 'dist', 'release'))

const timeSeconds = await readReleaseTime(root, process.env)
const key = await readSigningKey(process.env)
await mkdir(dirname(output), { recursive: true })
// Next to the output, so that the result can be renamed.
const workspace = await mkdtemp(join(dirname(output), 'release-'))
const finished = join(workspace, basename(output))
try {
  await mkdir(finished)
  const folder = join(workspace, 'package')
  await mkdir(folder)
  const program = await assembleProgram(root, folder)
  const { version } = program
  await packArchive({
    folder,
    files: await listFiles(folder),
    name: 'package',
    into: join(finished, `shoal-${version}.tgz`),
    timeSeconds,
    level,
  })
  if (process.platform === 'linux' && debianArchitecture) await packForLinux(folder, program)
  else
    console.error('Archives with Node and Debian packages are made only on Linux (x64 or ARM64).')
  await writeSbom({ program, into: join(finished, `shoal-${version}.cdx.json`), timeSeconds })
  await signRelease(finished, key)
  // The previous release is replaced only after the new release is complete, so that a failure leaves it unchanged.
  await rm(output, { recursive: true, force: true })
  await rename(finished, output)
  await printFiles(output)
} finally {
  await rm(workspace, { recursive: true })
}

async function packForLinux(folder: string, program: Program): Promise<void> {
  const { version } = program
  const name = `shoal-${version}-${ownPlatform}`
  const portable = join(workspace, name)
  await assemblePortable({ root, from: folder, into: portable, program, timeSeconds })
  const debian = join(workspace, 'debian')
  await mkdir(debian)
  const into = join(finished, `${name}.tar.gz`)
  const files = await listFiles(portable)
  await packArchive({ folder: portable, files, name, into, timeSeconds, level })
  await packDebian({
    root,
    portable,
    workspace: debian,
    into: join(finished, `shoal_${version}_${debianArchitecture}.deb`),
    version,
    timeSeconds,
    level,
  })
  if (positionals.includes('image')) {
    await buildImage({
      root,
      archive: into,
      base: options.base,
      name: `shoal:${version}`,
      into: join(finished, `${name}.image.tar`),
      timeSeconds,
    })
  }
}

async function printFiles(folder: string): Promise<void> {
  for (const name of (await readdir(folder)).toSorted()) {
    const { size } = await stat(join(folder, name))
    console.log(`${(size / 1e6).toFixed(1).padStart(6)} MB  ${join(folder, name)}`)
  }
}
