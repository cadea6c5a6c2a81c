import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findProgram, needProgram } from '../../../../testing/programs.ts'
import { pullScene, temporaryDirectory } from '../testing/pull-scene.ts'
import { mebibyte, syntheticFile } from '../testing/synthetic-file.ts'

const file = syntheticFile(12 * mebibyte + 345, mebibyte)

/** Mounts a small disk and returns its path, or undefined if this user may not mount disks. */
function mountSmallDisk(sizeBytes: number): string | undefined {
  const mount = findProgram('mount')
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || !mount) return undefined
  const directory = temporaryDirectory()
  try {
    const options = ['-t', 'tmpfs', '-o', `size=${sizeBytes}`, 'tmpfs', directory]
    execFileSync(mount, options, { stdio: 'ignore' })
  } catch {
    return undefined // for example in a container without permission to mount
  }
  onTestFinished(() => {
    execFileSync(needProgram('umount'), ['--lazy', directory])
  })
  return directory
}

test('a file that does not fit is refused before anything is downloaded', async ({ skip }) => {
  const disk = mountSmallDisk(8 * mebibyte)
  if (disk === undefined) return skip('cannot mount a small disk')
  const { pull, origin } = await pullScene(file)
  const failure = await pull({ path: join(disk, 'model.gguf') }).catch((error) => error)
  expect(failure).toMatchObject({ code: 'no_room' })
  expect(failure.details.neededBytes).toBe(file.bytes.length)
  expect(failure.details.freeBytes).toBeLessThanOrEqual(8 * mebibyte)
  expect([origin.requests, origin.downloads]).toEqual([[], 0])
})

test('if the disk fills up, the pull fails, and it resumes once there is space', async ({
  skip,
}) => {
  const disk = mountSmallDisk(16 * mebibyte)
  if (disk === undefined) return skip('cannot mount a small disk')
  const { pull, origin } = await pullScene(file)
  const path = join(disk, 'model.gguf')
  const filler = join(disk, 'filler')
  origin.script = ({ index }) => {
    if (index === 6) writeFileSync(filler, Buffer.alloc(8 * mebibyte))
    return undefined
  }
  await expect(pull({ path, connections: 1 })).rejects.toMatchObject({ code: 'no_room' })
  origin.script = () => undefined
  rmSync(filler)
  const pulled = await pull({ path })
  expect(pulled.resumedBytes).toBeGreaterThanOrEqual(6 * mebibyte)
  expect(readFileSync(path).equals(file.bytes)).toBe(true)
})
