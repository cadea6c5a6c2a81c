import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('the example in the README prints what the README says', async () => {
  const readme = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8')
  const [, code = '', output] = /```ts\n(.*?)```.*?```\n(.*?)```/s.exec(readme) ?? []
  const args = ['--input-type=module-typescript', '--eval', code]
  const options = { cwd: import.meta.dirname }
  const { stdout } = await promisify(execFile)(process.execPath, args, options)
  expect(stdout).toBe(output)
})
