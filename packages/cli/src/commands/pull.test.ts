import { chmod, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { writeGgufFile } from '@shoal/model-file/testing'
import { expect, test } from 'vitest'
import { realRegistry } from '../testing/real-registry.ts'
import { makeHome } from '../testing/run-shoal.ts'
import { modelScript, sampleFile, sampleModel } from '../testing/samples.ts'
import { scriptedRegistry } from '../testing/scripted-registry.ts'
import { shoalHere } from '../testing/shoal-here.ts'
import { withoutRoot } from '../testing/without-root.ts'

const files = [
  sampleFile({ quantization: 'Q4_K_M' }),
  sampleFile({ quantization: 'Q8_0', file_size_bytes: 7.7e9, memory_bytes: 9.1e9 }),
]
const script = modelScript(sampleModel(), files)

test('without a quantization, pull chooses the best fit and reports it', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry(script)
  const outcome = await shoalHere(['pull', 'tide-7b', '--dry-run'], {
    home: home.path,
    registry: registry.address,
    memoryBytes: 8 * 2 ** 30,
  })
  const folder = join(home.models, 'tide-7b')
  expect(outcome).toEqual({
    stdout: `${join(folder, 'tide-7b-Q4_K_M.gguf')}\n`,
    stderr: `tide-7b:Q4_K_M  best fit for 8 GB\n  Would download 4.37 GB in 1 file to ${folder}.\n`,
    exitCode: 0,
  })
  expect(registry.asked.some(({ path }) => path.includes('download'))).toBe(false)
})

test('a quantization in the reference is pulled even if the file does not fit', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry(script)
  const { stdout } = await shoalHere(
    ['pull', `${registry.address}/m/Tide-7B:q8_0`, '--dry-run', '--json', '--output', home.path],
    { home: home.path, memoryBytes: 2e9 },
  )
  const path = join(home.path, 'tide-7b-Q8_0.gguf')
  expect(JSON.parse(stdout)).toEqual({
    model: 'tide-7b',
    quantization: 'Q8_0',
    path,
    paths: [path],
    file_size_bytes: 7.7e9,
    dry_run: true,
  })
})

test('if no file fits, pull ends with exit code 8, and the hint contains the smallest file', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry(script)
  const { stderr, exitCode } = await shoalHere(['pull', 'tide-7b'], {
    home: home.path,
    registry: registry.address,
    memoryBytes: 4 * 2 ** 30,
  })
  expect(stderr).toBe(
    "✗ No file of tide-7b fits in this machine's 4 GB of memory.\n" +
      '  The smallest, Q4_K_M, needs 5.7 GB.\n' +
      '  To download it anyway: shoal pull tide-7b:Q4_K_M\n',
  )
  expect(exitCode).toBe(8)
})

test('pull finds a renamed model by its former name, and reports it', async () => {
  await using home = await makeHome()
  await using registry = await realRegistry()
  await registry.publish('tide', 2_000)
  await registry.rename('tide', 'reef')
  const at = { home: home.path, registry: registry.url, memoryBytes: 8 * 2 ** 30 }
  const pulled = await shoalHere(['pull', 'tide'], at)
  expect(pulled.exitCode).toBe(0)
  expect(pulled.stdout).toBe(`${join(home.models, 'reef', 'tide.gguf')}\n`)
  expect(pulled.stderr).toContain('  tide was renamed to reef.\nreef:Q8_0')
  const show = await shoalHere(['show', 'tide', '--json'], at)
  expect(JSON.parse(show.stdout)).toMatchObject({ name: 'reef' })

  const env = { SHOAL_TOKEN: registry.token }
  const liked = await shoalHere(['like', 'tide'], { ...at, env })
  expect([liked.exitCode, liked.stderr]).toEqual([3, '✗ The model tide was renamed to reef.\n'])
  await writeGgufFile(join(home.path, 'a.gguf'), 2_000, 1)
  const pushed = await shoalHere(['push', join(home.path, 'a.gguf'), '--name', 'tide'], {
    ...at,
    env,
  })
  expect(pushed.exitCode).toBe(3)
  expect(pushed.stderr).toContain(
    `✗ tide on ${new URL(registry.url).host} was renamed to reef.\n  To publish to it, pass --name reef.\n`,
  )
})

test('pull ends with exit code 3 for an unknown model and suggests similar names', async () => {
  await using home = await makeHome()
  const names = ['llama-3.3-8b-instruct', 'llama-3.3-70b-instruct', 'phi-4-14b']
  await using registry = await scriptedRegistry({
    'GET /v1/models': { body: names.map((name) => sampleModel({ name })) },
    'GET /v1/models/llama-3.3-8b-instrct': {
      status: 404,
      body: { detail: 'no model llama-3.3-8b-instrct', code: 'model_unknown' },
    },
  })
  const { stderr, exitCode } = await shoalHere(['pull', 'llama-3.3-8b-instrct'], {
    home: home.path,
    registry: registry.address,
  })
  expect(stderr).toBe(
    `✗ No model called “llama-3.3-8b-instrct” on ${registry.label}.\n` +
      '  Did you mean llama-3.3-8b-instruct, llama-3.3-70b-instruct?\n',
  )
  expect(exitCode).toBe(3)
})

test('pull ends with exit code 3 for an unknown quantization and lists the available ones', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry(script)
  const { stderr, exitCode } = await shoalHere(['pull', 'tide-7b:Q6_K'], {
    home: home.path,
    registry: registry.address,
  })
  expect(stderr).toBe('✗ tide-7b has no Q6_K file.\n  Available: Q4_K_M, Q8_0.\n')
  expect(exitCode).toBe(3)
})

test('among several files with one quantization, pull chooses the best fit and reports it', async () => {
  await using home = await makeHome()
  const files = ['a', 'b'].map((name) => sampleFile({ filename: `${name}.gguf` }))
  await using registry = await scriptedRegistry(modelScript(sampleModel(), files))
  const { stdout, stderr } = await shoalHere(['pull', 'tide-7b:q4_k_m', '--dry-run'], {
    home: home.path,
    registry: registry.address,
  })
  expect(stdout).toBe(`${join(home.models, 'tide-7b', 'a.gguf')}\n`)
  expect(stderr).toContain('tide-7b:a  the default among the 2 files with quantization q4_k_m\n')
})

test('a split file with a missing part is not pulled', async () => {
  await using home = await makeHome()
  const parts = [1, 3].map((part) => sampleFile({ filename: `tide-0000${part}-of-00003.gguf` }))
  await using registry = await scriptedRegistry(modelScript(sampleModel(), parts))
  const { stderr, exitCode } = await shoalHere(['pull', 'tide-7b'], {
    home: home.path,
    registry: registry.address,
  })
  expect(stderr).toContain('has 3 parts, of which 2 are ready')
  expect(exitCode).toBe(3)
})

test('the best fit is a complete file, never an incomplete split file', async () => {
  await using home = await makeHome()
  const half = [1, 2].map((part) =>
    sampleFile({ filename: `tide-Q8_0-0000${part}-of-00003.gguf`, quantization: 'Q8_0' }),
  )
  const all = [...half, sampleFile({ quantization: 'Q4_K_M', file_size_bytes: 3e9 })]
  await using registry = await scriptedRegistry(modelScript(sampleModel(), all))
  const options = { home: home.path, registry: registry.address, memoryBytes: 64 * 2 ** 30 }
  const { stdout } = await shoalHere(['pull', 'tide-7b', '--dry-run'], options)
  expect(stdout).toBe(`${join(home.models, 'tide-7b', 'tide-7b-Q4_K_M.gguf')}\n`)
  const named = await shoalHere(['pull', 'tide-7b:Q8_0', '--dry-run'], options)
  expect(named.stderr).toContain('has 3 parts, of which 2 are ready')
})

test('a registry cannot make pull write to another folder', async () => {
  await using home = await makeHome()
  const evil = [sampleFile({ filename: '../../../.bashrc.gguf' })]
  await using registry = await scriptedRegistry(modelScript(sampleModel(), evil))
  const { stderr, exitCode } = await shoalHere(['pull', 'tide-7b:Q4_K_M', '--dry-run'], {
    home: home.path,
    registry: registry.address,
  })
  expect(stderr).toContain('not safe to use in a path')
  expect(exitCode).toBe(1)
})

test('a model that is whole needs no write, so its folder may be read-only', async () => {
  await using home = await makeHome()
  await using registry = await realRegistry()
  await registry.publish('tide', 300_000)
  const options = { home: home.path, registry: registry.url }
  const pull = () => shoalHere(['pull', 'tide', '--no-peers'], options)
  const path = (await pull()).stdout.trim()
  const [folder, hidden] = [dirname(path), join(dirname(path), '.shoal')]
  for (const isRecordMissing of [false, true]) {
    if (isRecordMissing) await rm(join(hidden, `${basename(path)}.json`))
    const again = await withoutRoot(home.path, async () => {
      for (const one of [path, join(hidden, `${basename(path)}.lock`)]) await chmod(one, 0o444)
      for (const one of [folder, hidden]) await chmod(one, 0o555)
      const outcome = await pull()
      for (const one of [folder, hidden]) await chmod(one, 0o755)
      return outcome
    })
    expect(again).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('Already') })
  }
})
