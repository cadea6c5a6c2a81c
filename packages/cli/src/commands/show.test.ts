import { expect, test } from 'vitest'
import { makeHome } from '../testing/run-shoal.ts'
import { modelScript, sampleFile, sampleModel } from '../testing/samples.ts'
import { scriptedRegistry } from '../testing/scripted-registry.ts'
import { shoalHere } from '../testing/shoal-here.ts'

const projector = { filename: 'mmproj-F16.gguf', file_size_bytes: 0.9e9, memory_bytes: null }
const files = [
  sampleFile({ quantization: 'Q4_K_M' }),
  sampleFile({ quantization: 'Q8_0', file_size_bytes: 7.7e9, memory_bytes: 9.1e9, seeders: 3 }),
  sampleFile({ quantization: 'F16', file_size_bytes: 14.5e9, memory_bytes: 17.4e9 }),
  sampleFile({ quantization: 'F16', ...projector }),
]

test('show lists the files by size, and states which of them fit this machine', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry(modelScript(sampleModel(), files))
  const { stdout, exitCode } = await shoalHere(['show', 'tide-7b'], {
    home: home.path,
    registry: registry.address,
  })
  expect(exitCode).toBe(0)
  expect(stdout).toContain('7.2B parameters · llama · 32K context · apache-2.0')
  expect(stdout).toContain(`${registry.address}/m/tide-7b`)
  expect(stdout.split('\n').slice(-6, -1)).toEqual([
    'FILE           SIZE  RUNS IN  PARTS  PEERS  THIS MACHINE',
    'mmproj-F16   900 MB        –      1      0  used with a model',
    'Q4_K_M      4.37 GB   5.7 GB      1      0  fits',
    'Q8_0        7.70 GB   9.1 GB      1      3  best fit for 16 GB',
    'F16         14.5 GB  17.4 GB      1      0  too large for this machine',
  ])
})

test('a split file needs the memory of all its parts, estimated from file sizes if the registry reports no memory', async () => {
  await using home = await makeHome()
  const part = (name: string, memory_bytes: number | null) =>
    sampleFile({ filename: `${name}.gguf`, quantization: null, file_size_bytes: 4e9, memory_bytes })
  const split = [part('big-00001-of-00002', 6e9), part('big-00002-of-00002', 4e9)]
  const script = modelScript(sampleModel(), [...split, part('untold', null)])
  await using registry = await scriptedRegistry(script)
  const { stdout } = await shoalHere(['show', 'tide-7b'], {
    home: home.path,
    registry: registry.address,
  })
  expect(stdout.split('\n').slice(-3, -1)).toEqual([
    'untold  4.00 GB   5.2 GB      1      0  fits',
    'big     8.00 GB  10.0 GB      2      0  best fit for 16 GB',
  ])
})

test('--json prints the model with its files', async () => {
  await using home = await makeHome()
  await using registry = await scriptedRegistry(modelScript(sampleModel(), files))
  const { stdout } = await shoalHere(['show', 'tide-7b', '--json'], {
    home: home.path,
    registry: registry.address,
  })
  const document = JSON.parse(stdout)
  expect(document.name).toBe('tide-7b')
  expect(document.files).toHaveLength(4)
})

test('--card prints only the Markdown', async () => {
  await using home = await makeHome()
  const model = sampleModel({ readme: '# Tide\n\nA \x1b[31mfish.' })
  await using registry = await scriptedRegistry(modelScript(model, files))
  const { stdout } = await shoalHere(['show', 'tide-7b', '--card'], {
    home: home.path,
    registry: registry.address,
  })
  expect(stdout).toBe('# Tide\n\nA [31mfish.\n')
})
