/** Runs a process with a wrong clock, using libfaketime. */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { findFaketime } from './needs.ts'

/**
 * Returns the environment variables for libfaketime. The file contains the shift in seconds, such as `+3600`. The wall
 * clock is shifted for the entire process, including SQLite and worker threads, whereas a preloaded module could only
 * shift `Date`. Monotonic clocks are not shifted, as is the case when a real clock is set.
 */
export function shiftedBy(clockFile: string): Record<string, string> {
  return {
    LD_PRELOAD: findFaketime() ?? '',
    FAKETIME_TIMESTAMP_FILE: clockFile,
    FAKETIME_CACHE_DURATION: '1', // the number of seconds until the file is read again
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    NO_FAKE_STAT: '1',
  }
}

/** Removes the shared memory of libfaketime that remains after a process has been killed. */
export function removeAbandonedClocks() {
  const folder = '/dev/shm'
  for (const name of readdirSync(folder)) {
    const pid = /^(?:sem\.)?faketime_(?:shm|sem)_(\d+)$/.exec(name)?.[1]
    if (pid && !existsSync(`/proc/${pid}`)) rmSync(join(folder, name), { force: true })
  }
}
