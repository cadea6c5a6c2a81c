import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from '../../../../testing/temporary-folder.ts'
import { describeProgram } from '../make/program.ts'

const platform = `${process.platform}-${process.arch}`

/** Creates a temporary folder, which is deleted after the test. */
export async function makeFolder() {
  const folder = temporaryFolder()
  return folder
}

/** Writes the files of a release whose program prints its version. Returns their folder. */
export async function makeProgram(version = '1.0.0') {
  const folder = await makeFolder()
  await mkdir(join(folder, 'bin'))
  await writeFile(join(folder, 'bin', 'shoal'), `#!/bin/sh\necho ${version}\n`, { mode: 0o700 })
  const deep = join(folder, 'program', 'a folder', 'x'.repeat(120))
  await mkdir(deep, { recursive: true })
  await writeFile(join(deep, 'äöü.txt'), 'a text')
  await describeProgram(folder, { version, platform, timeSeconds: 1_700_000_000 })
  return folder
}
