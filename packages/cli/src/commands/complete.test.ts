import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { putModelFile } from '../testing/local-files.ts'
import { binPath, makeHome } from '../testing/run-shoal.ts'
import { sampleModel } from '../testing/samples.ts'
import { scriptedDaemon } from '../testing/scripted-daemon.ts'
import { scriptedRegistry } from '../testing/scripted-registry.ts'
import { shoalHere } from '../testing/shoal-here.ts'

async function namesFor(line: string, home: string, registry = 'http://127.0.0.1:9') {
  const { stdout, stderr, exitCode } = await shoalHere(['__complete', line], { home, registry })
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
  return stdout
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => text.split('\t')[0])
}

test.each([
  ['shoal pu', ['pull', 'push']],
  ['shoal --json keys r', ['revoke']],
  ['shoal search --so', ['--sort']],
  ['shoal search --sort l', ['likes']],
  ['shoal pull --limit', ['--limit-rate', '--limit-upload']],
  ['shoal config get re', ['registry']],
  ['shoal completion f', ['fish']],
  ['shoal push ', []],
])('“%s” goes on with %s', async (line, names) => {
  await using home = await makeHome()
  expect(await namesFor(line, home.path)).toEqual(names)
})

test('local commands complete what is here, the others what the registry has', async () => {
  await using home = await makeHome()
  await putModelFile(join(home.models, 'tide', 'tide-Q8_0.gguf'))
  await using registry = await scriptedRegistry({ 'GET /v1/models': { body: [sampleModel()] } })
  expect(await namesFor('shoal path ti', home.path)).toEqual(['tide:Q8_0'])
  expect(await namesFor('shoal pull ti', home.path, registry.address)).toEqual(['tide-7b'])
  expect(await namesFor('shoal pull tide-7b:q', home.path, registry.address)).toEqual([
    'tide-7b:Q4_K_M',
    'tide-7b:Q8_0',
  ])
})

test('run and load complete what is here, unload what is loaded', async () => {
  await using home = await makeHome()
  await putModelFile(join(home.models, 'tide', 'tide-Q8_0.gguf'))
  await using daemon = await scriptedDaemon()
  const env = { SHOAL_INFERENCE: daemon.url }
  for (const line of ['shoal run ti', 'shoal load ti', 'shoal serve --model ti']) {
    expect(await namesFor(line, home.path)).toEqual(['tide:Q8_0'])
  }
  const wishes = { home: home.path, env }
  expect((await shoalHere(['__complete', 'shoal unload '], wishes)).stdout).toBe(
    'shoal-nano:Q8_0\t62.0 MB\n',
  )
  const silent = { home: home.path, env: { SHOAL_INFERENCE: 'localhost:9' } }
  expect((await shoalHere(['__complete', 'shoal unload '], silent)).stdout).toBe('')
})

test('a registry that is not there gives no names, and no trouble', async () => {
  await using home = await makeHome()
  expect(await namesFor('shoal pull ti', home.path)).toEqual([])
})

test.each(['bash', 'zsh', 'fish'])('there is a script for %s', async (shell) => {
  await using home = await makeHome()
  const { stdout, exitCode } = await shoalHere(['completion', shell], { home: home.path })
  expect(stdout).toContain('shoal __complete')
  expect(exitCode).toBe(0)
})

test('bash completes a quantization behind the colon', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry({ 'GET /v1/models': { body: [sampleModel()] } })
  const { stdout: script } = await shoalHere(['completion', 'bash'], { home: home.path })
  const session = `
    shoal() { "$NODE" "$BIN" "$@"; }
    ${script}
    COMP_LINE='shoal pull tide-7b:Q4' COMP_POINT=21
    _shoal
    printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout } = await promisify(execFile)('bash', ['--norc', '-c', session], {
    env: {
      NODE: process.execPath,
      BIN: binPath,
      SHOAL_HOME: home.path,
      SHOAL_REGISTRY: registry.address,
    },
  })
  expect(stdout).toBe('Q4_K_M\n')
})
