/** Packs folders reproducibly: the same files always result in the same bytes. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'

export type ArchiveOptions = {
  folder: string
  /** The paths of the files in the folder. Other files are not packed. */
  files: readonly string[]
  /** The name that the folder has in the archive. */
  name: string
  /** The path of the archive, which must not exist. */
  into: string
  /** The modification time of all files, in seconds since 1970. */
  timeSeconds: number
  /** zlib's compression level, 0 to 9. Default: 6. */
  level?: number
}

/**
 * Packs the files as a gzipped tar archive, which is on disk when the promise resolves. Requires GNU tar. Links are
 * replaced by the files that they point to.
 * @throws if a file is missing, or cannot be read or written; an incomplete archive may then be left behind
 */
export async function packArchive(options: ArchiveOptions): Promise<void> {
  const { folder, files, name, into, timeSeconds, level = 6 } = options
  const tar = spawn(
    'tar',
    [
      ...['--create', '--file=-', '--format=gnu', `--mtime=@${timeSeconds}`],
      ...['--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX'],
      ...['--dereference', '--hard-dereference', `--transform=s,^[.],${name},`],
      ...[`--directory=${folder}`, '--no-recursion', '--null', '--files-from=-'],
    ],
    // tar runs in its own session, so that Ctrl-C in a terminal does not reach it. It ends when its output is closed.
    { stdio: ['pipe', 'pipe', 'pipe'], detached: true },
  )
  const complaint = text(tar.stderr)
  const [ended, written] = await Promise.allSettled([
    once(tar, 'close'),
    // zlib writes neither a time nor a filename into the header.
    pipeline(
      tar.stdout,
      createGzip({ level }),
      createWriteStream(into, { flags: 'wx', mode: 0o644, flush: true }),
    ),
    pipeline(Readable.from(listEntries(files)), tar.stdin), // fails only if tar fails, and then tar reports the reason
  ])
  if (ended.status === 'rejected') throw new Error('GNU tar cannot be run', { cause: ended.reason })
  if (written.status === 'rejected') throw written.reason
  const [code, killedBy] = ended.value
  if (code === 0) return
  const how = killedBy ? `was killed by ${killedBy}` : `exited with code ${code}`
  throw new Error(`tar ${how}: ${(await complaint).slice(0, 500)}`)
}

/** Yields the paths of folders and files, each folder before its files. Each path ends with a zero byte. */
function* listEntries(files: readonly string[]) {
  const paths = new Set(['.'])
  for (const file of files) {
    const parts = `./${file}`.split('/')
    for (const at of parts.keys()) paths.add(parts.slice(0, at + 1).join('/'))
  }
  for (const path of [...paths].sort()) yield `${path}\0`
}
