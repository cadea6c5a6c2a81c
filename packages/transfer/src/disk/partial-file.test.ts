import { mkdirSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseManifest } from '../chunks/manifest.ts'
import { temporaryDirectory } from '../testing/pull-scene.ts'
import { smallChunk, syntheticFile, toDownload, toModelFile } from '../testing/synthetic-file.ts'
import { getFilePaths } from './file-paths.ts'
import { openPartial } from './partial-file.ts'

/** Returns the paths of the files that this process has open under `folder`. */
const listOpen = (folder: string) =>
  readdirSync('/proc/self/fd')
    .map((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`)
      } catch {
        return '' // the descriptor of the listing itself
      }
    })
    .filter((path) => path.startsWith(folder))

test.runIf(process.platform === 'linux')(
  'a partial file that cannot be opened completely leaves no file open',
  async () => {
    const folder = temporaryDirectory()
    const path = join(folder, 'tide.gguf')
    const { journal } = getFilePaths(path)
    const file = syntheticFile(smallChunk)
    const manifest = parseManifest(toDownload(file, 'http://localhost'), toModelFile(file))
    const opened = await openPartial(path, manifest)
    expect(listOpen(folder)).toHaveLength(2)
    opened.close()
    await expect.poll(() => listOpen(folder)).toEqual([])

    mkdirSync(`${journal}.new`) // so that the journal cannot be written
    await expect(openPartial(path, manifest)).rejects.toThrow('EISDIR')
    expect(listOpen(folder)).toEqual([])
  },
)
