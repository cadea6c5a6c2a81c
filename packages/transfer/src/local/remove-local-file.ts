import { rm, rmdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { FileBusyError } from '../errors.ts'
import { tryLock } from './lock.ts'
import { placesOf } from './places.ts'

/** Removes the file, its partial and what shoal knows of it. Answers how many bytes that freed. */
export async function removeLocalFile(path: string): Promise<{ freedBytes: number }> {
  const { partial, record, journal, torrent, lock } = placesOf(path)
  const release = tryLock(lock)
  if (release === undefined) throw new FileBusyError(path)
  let freedBytes = 0
  try {
    for (const each of [path, partial, record, journal, torrent]) {
      freedBytes += await occupiedBytes(each)
      await rm(each, { force: true })
    }
    await rm(lock)
  } finally {
    release()
  }
  await removeEmpty(dirname(lock))
  await removeEmpty(dirname(path))
  return { freedBytes }
}

async function occupiedBytes(path: string): Promise<number> {
  return stat(path).then(
    ({ blocks }) => blocks * 512,
    (error) => {
      if (error.code === 'ENOENT') return 0
      throw error
    },
  )
}

async function removeEmpty(directory: string) {
  await rmdir(directory).catch((error) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
  })
}
