import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

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
