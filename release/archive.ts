/** Packs folders so that the same files give the same bytes, whoever packs them and when. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGzip } from 'node:zlib'

type Options = {
  /** The folder that contains `name`. */
  directory: string
  /** The file or folder to pack. */
  name: string
  /** The path of the archive. */
  into: string
  /** The modification time of all files, in seconds since 1970. */
  timeSeconds: number
}

/** Packs `name` as a gzipped tar archive. Needs GNU tar. */
export async function packTarball(options: Options): Promise<void> {
  const { directory, name, into, timeSeconds } = options
  const tar = spawn(
    'tar',
    [
      ...['--create', '--file=-', '--format=gnu', '--sort=name', `--mtime=@${timeSeconds}`],
      ...['--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX'],
      ...[`--directory=${directory}`, name],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const ended = untilSucceeded(tar, 'tar')
  // zlib writes neither a time nor a file name into the header.
  await Promise.all([ended, pipeline(tar.stdout, createGzip(), createWriteStream(into))])
}

async function untilSucceeded(child: ChildProcess, name: string): Promise<void> {
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${name} exited with ${code}`)
}

/**
 * Returns the time that all files of a release get, in seconds since 1970: `SOURCE_DATE_EPOCH`
 * (https://reproducible-builds.org/specs/source-date-epoch/), or the time of the commit. Outside a clone, returns the
 * time that npm gives to the files of its packages.
 */
export async function readReleaseTime(root: string, env: NodeJS.ProcessEnv): Promise<number> {
  const given = env.SOURCE_DATE_EPOCH
  if (given !== undefined) {
    if (/^\d{1,10}$/.test(given)) return Number(given)
    throw new Error(`SOURCE_DATE_EPOCH must be a number of seconds since 1970, not ${given}`)
  }
  const words = ['-C', root, 'log', '-1', '--format=%ct']
  const commit = await promisify(execFile)('git', words).catch(() => undefined)
  return commit ? Number(commit.stdout) : npmTimeSeconds
}

/** 1985-10-26 08:15 UTC */
const npmTimeSeconds = 499_162_500
