/** Writes the files of a release: `npm run release`. */
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { listFiles, packArchive, readSigningKey, signRelease } from '@shoal/releases/make'
import { misuse, parseToolArguments } from '../testing/tool-arguments.ts'
import { assemblePortable, ownPlatform } from './assemble-portable.ts'
import { assembleProgram, type Program } from './assemble-program.ts'
import { buildImage } from './build-image.ts'
import { debianArchitecture, packDebian } from './pack-debian.ts'
import { readReleaseTime } from './release-time.ts'
import { setVersion } from './set-version.ts'
import { type RuntimePart, writeSbom } from './write-sbom.ts'

const root = join(import.meta.dirname, '..')
const help = `npm run release [-- image] [options]

Writes the files of a release, and replaces the folder if it exists. With image, also builds a container image, which
requires root and buildah.

options, with their defaults:
  --version VERSION    first set this version, such as 0.2.0, in all packages and in CHANGELOG.md, and commit and tag
                       the change (default: the current version)
  --into dist/release  folder to write
  --base docker.io/library/debian:bookworm-slim
                       image that the container image is based on
  --level 6            compression level, 0 to 9`
const { values: options, positionals } = parseToolArguments(help, {
  allowPositionals: true,
  options: {
    version: { type: 'string' },
    into: { type: 'string' },
    base: { type: 'string', default: 'docker.io/library/debian:bookworm-slim' },
    level: { type: 'string', default: '6' },
  },
})
const [unknown] = positionals.filter((word) => word !== 'image')
if (unknown !== undefined) misuse(`unknown part of a release: ${unknown}; the only one is image`)
if (!/^[0-9]$/.test(options.level)) misuse('--level must be a number from 0 to 9')
const level = Number(options.level)
const output = resolve(options.into ?? join(root, 'dist', 'release'))

if (options.version !== undefined) await commitVersion(options.version)
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
  let runtime: RuntimePart[] = []
  if (process.platform === 'linux' && debianArchitecture) {
    runtime = await packForLinux(folder, program)
  } else
    console.error('Archives with Node and Debian packages are made only on Linux (x64 or ARM64).')
  await writeSbom({
    program,
    runtime,
    into: join(finished, `shoal-${version}.cdx.json`),
    timeSeconds,
  })
  await signRelease(finished, key)
  // The previous release is replaced only after the new release is complete, so that a failure leaves it unchanged.
  await rm(output, { recursive: true, force: true })
  await rename(finished, output)
  await printFiles(output)
} finally {
  await rm(workspace, { recursive: true })
}

/** Returns what the files contain besides the program. */
async function packForLinux(folder: string, program: Program): Promise<RuntimePart[]> {
  const { version } = program
  const name = `shoal-${version}-${ownPlatform}`
  const portable = join(workspace, name)
  const runtime = await assemblePortable({
    root,
    from: folder,
    into: portable,
    program,
    timeSeconds,
  })
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
  return runtime
}

/** Sets the version in a commit of its own, because a release has the time of its commit and can be built again. */
async function commitVersion(version: string): Promise<void> {
  const git = (...words: string[]) =>
    execFileSync('git', ['-C', root, ...words], { encoding: 'utf8' })
  if (git('status', '--porcelain') !== '') misuse('commit your changes before you set a version')
  const [date = ''] = new Date().toISOString().split('T')
  await setVersion(root, version, date).catch((error: Error) => misuse(error.message))
  git('commit', '--all', '--quiet', `--message=release: version ${version}`)
  git('tag', `v${version}`)
  console.error(`Committed and tagged version ${version}.`)
}

async function printFiles(folder: string): Promise<void> {
  for (const name of (await readdir(folder)).toSorted()) {
    const { size } = await stat(join(folder, name))
    console.log(`${(size / 1e6).toFixed(1).padStart(6)} MB  ${join(folder, name)}`)
  }
}
