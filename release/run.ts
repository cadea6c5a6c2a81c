/**
 * `npm run release`: writes everything that a release consists of to `dist/release`, or to the folder that `--into`
 * names, which is replaced. `npm run release -- image` adds a container image, based on the image that `--base` names.
 */
import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { packTarball, readReleaseTime } from './archive.ts'
import { assemblePortable, ownPlatform } from './assemble-portable.ts'
import { assembleProgram, type Program } from './assemble-program.ts'
import { buildImage } from './build-image.ts'
import { debianArchitecture, packDebian } from './pack-debian.ts'
import { readSigningKey, signRelease } from './sign-release.ts'
import { writeSbom } from './write-sbom.ts'

const root = join(import.meta.dirname, '..')
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    into: { type: 'string' },
    base: { type: 'string', default: 'docker.io/library/debian:bookworm-slim' },
  },
})
const [unknown] = positionals.filter((word) => word !== 'image')
if (unknown !== undefined) throw new Error(`unknown part of a release: ${unknown}`)
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
  await packTarball({
    directory: workspace,
    name: 'package',
    into: join(finished, `shoal-${version}.tgz`),
    timeSeconds,
  })
  if (process.platform === 'linux' && debianArchitecture) await packForLinux(folder, program)
  else
    console.error('Archives with Node and Debian packages are made only on Linux (x64 or ARM64).')
  await writeSbom({ program, into: join(finished, `shoal-${version}.cdx.json`), timeSeconds })
  await signRelease(finished, key)
  // Replaced only when everything has been made, so that a failure leaves the previous release as it was.
  await rm(output, { recursive: true, force: true })
  await rename(finished, output)
  await printFiles(output)
} finally {
  await rm(workspace, { recursive: true })
}

async function packForLinux(folder: string, { version, native }: Program): Promise<void> {
  const name = `shoal-${version}-${ownPlatform}`
  const portable = join(workspace, name)
  await assemblePortable({ root, program: folder, into: portable, native })
  const debian = join(workspace, 'debian')
  await mkdir(debian)
  const into = join(finished, `${name}.tar.gz`)
  await packTarball({ directory: workspace, name, into, timeSeconds })
  await packDebian({
    root,
    portable,
    workspace: debian,
    into: join(finished, `shoal_${version}_${debianArchitecture}.deb`),
    version,
    timeSeconds,
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
