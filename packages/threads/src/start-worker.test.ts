import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

const script = join(import.meta.dirname, 'testing/start-one.ts')

/** Returns V8's log of the code that it compiled in the thread of `start-one`. */
async function compiledInThread(...words: string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-threads-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  // V8 writes one log per thread.
  const flags = ['--wasm-wrapper-tiering-budget=10', '--log-code', '--logfile-per-isolate']
  await promisify(execFile)(process.execPath, [...flags, script, ...words], { cwd: folder })
  const logs = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
  return logs.flatMap((log) => log.split('wasm-thread.ts:1:1').slice(1)).join()
}

test('V8 compiles wrappers for WebAssembly imports in a plain Worker, but not if startWorker is used', async () => {
  const compiled = await compiledInThread()
  expect(compiled).toContain('wasm-function')
  expect(compiled).not.toContain(',wasm-to-js,')
  expect(await compiledInThread('plain')).toContain(',wasm-to-js,')
})
