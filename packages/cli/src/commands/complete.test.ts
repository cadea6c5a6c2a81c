import { execFile } from 'node:child_process'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
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
  ['shoal list ', []],
])('“%s” is completed with %s', async (line, names) => {
  await using home = await makeHome()
  expect(await namesFor(line, home.path)).toEqual(names)
})

test('path completes local models, and pull completes models in the registry', async () => {
  await using home = await makeHome()
  await putModelFile(join(home.models, 'tide', 'tide-Q8_0.gguf'))
  await using registry = await scriptedRegistry({ 'GET /v1/models': { body: [sampleModel()] } })
  expect(await namesFor('shoal path ti', home.path)).toEqual(['tide:Q8_0'])
  expect(await namesFor('shoal pull ti', home.path, registry.address)).toEqual(['tide-7b'])
  expect(await namesFor('shoal pull tide-7b:q', home.path, registry.address)).toEqual([
    'tide-7b:Q4_K_M',
    'tide-7b:Q8_0',
  ])
  expect(await namesFor('shoal rm ti', home.path, registry.address)).toEqual(['tide:Q8_0'])
  for (const command of ['edit', 'files rm', 'members set']) {
    expect(await namesFor(`shoal ${command} ti`, home.path, registry.address)).toEqual(['tide-7b'])
  }
})

test('run and load complete local models, and unload completes loaded models', async () => {
  await using home = await makeHome()
  await putModelFile(join(home.models, 'tide', 'tide-Q8_0.gguf'))
  await using daemon = await scriptedDaemon()
  const env = { SHOAL_INFERENCE: daemon.url }
  for (const line of ['shoal run ti', 'shoal load ti', 'shoal serve --model ti']) {
    expect(await namesFor(line, home.path)).toEqual(['tide:Q8_0'])
  }
  const options = { home: home.path, env }
  expect((await shoalHere(['__complete', 'shoal unload '], options)).stdout).toBe(
    'shoal-nano:Q8_0\t62.0 MB\n',
  )
  const silent = { home: home.path, env: { SHOAL_INFERENCE: 'localhost:9' } }
  expect((await shoalHere(['__complete', 'shoal unload '], silent)).stdout).toBe('')
})

test('cached names and local models are completed while the registry is offline', async () => {
  await using home = await makeHome()
  let address = ''
  {
    await using registry = await scriptedRegistry({ 'GET /v1/models': { body: [sampleModel()] } })
    address = registry.address
    expect(await namesFor('shoal pull ti', home.path, address)).toEqual(['tide-7b'])
  }
  await putModelFile(join(home.models, 'tiny', 'tiny-Q8_0.gguf'))
  expect(await namesFor('shoal pull ti', home.path, address)).toEqual(['tide-7b', 'tiny'])
  expect(await namesFor('shoal pull tide-7b:q4', home.path, address)).toEqual(['tide-7b:Q4_K_M'])
  expect(await namesFor('shoal pull tiny:', home.path, address)).toEqual(['tiny:Q8_0'])
  // Another registry does not have these models.
  expect(await namesFor('shoal pull ti', home.path)).toEqual(['tiny'])
  const { mode } = await stat(join(home.path, 'state', 'known-models.json'))
  expect(mode & 0o777).toBe(0o600)
})

test('completion does not wait for a slow registry', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry({ 'GET /v1/models': { body: [sampleModel()] } })
  await shoalHere(['search'], { home: home.path, registry: registry.address })
  const silent = createServer(() => undefined) // never responds
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  const known = join(home.path, 'state', 'known-models.json')
  const content = await readFile(known, 'utf8')
  const address = `http://127.0.0.1:${port}`
  await writeFile(known, content.replace(registry.address, address))
  expect(await namesFor('shoal pull ti', home.path, address)).toEqual(['tide-7b'])
  silent.closeAllConnections()
  silent.close()
})

test('an unreadable cache of names is ignored and replaced', async () => {
  await using home = await makeHome()
  const known = join(home.path, 'state', 'known-models.json')
  await mkdir(join(home.path, 'state'))
  await writeFile(known, '{"http://127.0.0.1:9": [{"name": 7}, "x"')
  expect(await namesFor('shoal pull ti', home.path)).toEqual([])
  await using registry = await scriptedRegistry({ 'GET /v1/models': { body: [sampleModel()] } })
  await namesFor('shoal pull ti', home.path, registry.address)
  expect(Object.keys(JSON.parse(await readFile(known, 'utf8')))).toEqual([registry.address])
})

test('an unsupported shell is refused, and the supported shells are listed', async () => {
  await using home = await makeHome()
  const outcome = await shoalHere(['completion', 'powershell'], { home: home.path })
  expect(outcome).toEqual({
    stdout: '',
    stderr: '✗ Unsupported shell “powershell”.\n  Supported shells: bash, zsh, fish.\n',
    exitCode: 2,
  })
})

test('completion with an offline registry returns no names and no error', async () => {
  await using home = await makeHome()
  expect(await namesFor('shoal pull ti', home.path)).toEqual([])
})

test.each(['bash', 'zsh', 'fish'])('completion prints a script for %s', async (shell) => {
  await using home = await makeHome()
  const { stdout, exitCode } = await shoalHere(['completion', shell], { home: home.path })
  expect(stdout).toContain('shoal __complete')
  expect(exitCode).toBe(0)
})

test('bash completes a quantization after the colon', async () => {
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
