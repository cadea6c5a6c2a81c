import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Runs npm in a folder, with an empty cache. The user's npm settings apply, such as the authority of a proxy. */
export async function runNpm(cwd: string, words: string[]): Promise<void> {
  const cache = await mkdtemp(join(tmpdir(), 'shoal-npm-'))
  try {
    await promisify(execFile)(
      'npm',
      [...words, '--no-audit', '--no-fund', '--no-update-notifier'],
      {
        cwd,
        env: { ...process.env, npm_config_cache: cache },
      },
    )
  } finally {
    await rm(cache, { recursive: true })
  }
}
