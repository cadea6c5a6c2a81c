/**
 * `npm run release`: writes everything that a release consists of to `dist/release`, or to the folder that `--into`
 * names, which is replaced.
 */
import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { packTarball, readReleaseTime } from './archive.ts'
import { assembleProgram } from './assemble-program.ts'

const root = join(import.meta.dirname, '..')
const { values: options } = parseArgs({ options: { into: { type: 'string' } } })
const output = resolve(options.into ?? join(root, 'dist', 'release'))

const timeSeconds = await readReleaseTime(root, process.env)
await mkdir(dirname(output), { recursive: true })
// Next to the output, so that the result can be renamed.
const workspace = await mkdtemp(join(dirname(output), 'release-'))
const finished = join(workspace, basename(output))
try {
  const program = join(workspace, 'package')
  await mkdir(program)
  await mkdir(finished)
  const { version } = await assembleProgram(root, program)
  await packTarball({
    directory: workspace,
    name: 'package',
    into: join(finished, `shoal-${version}.tgz`),
    timeSeconds,
  })
  // Replaced only when everything has been made, so that a failure leaves the previous release as it was.
  await rm(output, { recursive: true, force: true })
  await rename(finished, output)
  await printFiles(output)
} finally {
  await rm(workspace, { recursive: true })
}

async function printFiles(folder: string): Promise<void> {
  for (const name of (await readdir(folder)).toSorted()) {
    const { size } = await stat(join(folder, name))
    console.log(`${(size / 1e6).toFixed(1).padStart(6)} MB  ${join(folder, name)}`)
  }
}
