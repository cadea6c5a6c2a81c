import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { removeDirectorySync } from './remove-directory.ts'

const rounds = 5
const files = 300

test('a directory is removed completely while another process deletes its files', async () => {
  for (let round = 0; round < rounds; round += 1) {
    const directory = mkdtempSync(join(tmpdir(), 'shoal-remove-'))
    mkdirSync(join(directory, 'deep'))
    const script = `seq ${files} | xargs touch; echo made; seq ${files} | xargs rm -f`
    const child = spawn('sh', ['-c', script], {
      cwd: join(directory, 'deep'),
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const exited = once(child, 'exit')
    await once(child.stdout, 'data')
    removeDirectorySync(directory)
    expect(existsSync(directory)).toBe(false)
    await exited
  }
})
