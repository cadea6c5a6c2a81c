import { existsSync } from 'node:fs'
import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeGguf } from '@shoal/model-file/testing'
import { expect, test } from 'vitest'
import { putModelFile, shippedModels } from '../testing/local-files.ts'
import { makeHome } from '../testing/run-shoal.ts'
import { shoalHere } from '../testing/shoal-here.ts'

test('without models, ls prints nothing on stdout', async () => {
  await using home = await makeHome()
  const { stdout, stderr } = await shoalHere(['ls'], { home: home.path })
  expect(stdout).toBe('')
  expect(stderr).toBe(`No models in ${home.models} yet. Download one with: shoal pull <model>\n`)
  expect((await shoalHere(['list', '--json'], { home: home.path })).stdout).toBe('[]\n')
})

test('any GGUF file in the folder is a model', async () => {
  await using home = await makeHome()
  const path = join(home.models, 'tide', 'tide-Q4_K_M.gguf')
  await putModelFile(path)
  const { stdout } = await shoalHere(['ls'], { home: home.path })
  expect(stdout).toBe('MODEL          SIZE  CHANGED\ntide:Q4_K_M  973 KB  just now\n')
  expect((await shoalHere(['path', 'TIDE'], { home: home.path })).stdout).toBe(`${path}\n`)
  expect((await shoalHere(['path', 'tide:q4_k_m'], { home: home.path })).stdout).toBe(`${path}\n`)
})

test('ls says what a file is that is not a model', async () => {
  await using home = await makeHome()
  const folder = join(home.models, 'tide')
  await mkdir(folder, { recursive: true })
  const lora = makeGguf({ metadata: { 'general.type': 'adapter' } })
  await writeFile(join(folder, 'lora-F16.gguf'), lora)
  const { stdout } = await shoalHere(['ls'], { home: home.path })
  expect(stdout).toContain('just now  LoRA adapter\n')
  const listed = await shoalHere(['ls', '--json'], { home: home.path })
  expect(JSON.parse(listed.stdout)).toMatchObject([{ kind: 'adapter' }])
})

test('an unreadable file is reported, and other models are still listed', async () => {
  await using home = await makeHome()
  await putModelFile(join(home.models, 'tide', 'tide-Q4_K_M.gguf'))
  const loop = join(home.models, 'loop')
  await symlink('loop', loop)
  const { stdout, stderr, exitCode } = await shoalHere(['ls'], { home: home.path })
  expect(stdout).toContain('tide:Q4_K_M')
  expect(stderr).toBe(`! Skipped ${loop}: it is part of a loop of links.\n`)
  expect(exitCode).toBe(0)
})

test('path ends with exit code 3 for a missing model, and lists the available files', async () => {
  await using home = await makeHome()
  await putModelFile(join(home.models, 'tide', 'tide-Q8_0.gguf'))
  const { stdout, stderr, exitCode } = await shoalHere(['path', 'tide:Q4_0'], { home: home.path })
  expect({ stdout, stderr, exitCode }).toEqual({
    stdout: '',
    stderr:
      '✗ tide:Q4_0 is not on this machine.\n  Available: tide:Q8_0.\n  To download it: shoal pull tide:Q4_0\n',
    exitCode: 3,
  })
})

test('a split file is one model, with the path of its first part', async () => {
  await using home = await makeHome()
  const paths = [1, 2].map((part) =>
    join(home.models, 'tide', `tide-Q8_0-0000${part}-of-00002.gguf`),
  )
  for (const path of paths) await putModelFile(path)
  const { stdout } = await shoalHere(['ls', '--json'], { home: home.path })
  expect(JSON.parse(stdout)).toMatchObject([{ model: 'tide', quantization: 'Q8_0', paths }])
  expect((await shoalHere(['path', 'tide'], { home: home.path })).stdout).toBe(`${paths[0]}\n`)
})

test('with several files in one quantization, path prints the best fit, and rm requires a choice', async () => {
  await using home = await makeHome()
  const at = { home: home.path }
  for (const name of ['a-Q8_0', 'b-Q8_0']) {
    await putModelFile(join(home.models, 'tide', `${name}.gguf`))
  }
  const { stdout, stderr } = await shoalHere(['path', 'tide:q8_0'], at)
  expect(stdout).toBe(`${join(home.models, 'tide', 'a-Q8_0.gguf')}\n`)
  expect(stderr).toBe('  tide:a-Q8_0 is the default among the 2 files with quantization q8_0.\n')
  expect((await shoalHere(['rm', '--yes', 'tide:Q8_0'], at)).stderr).toBe(
    '✗ Several files match Q8_0.\n  Choose one of a-Q8_0, b-Q8_0.\n',
  )
})

test('with several files, path prints the best fit according to their headers', async () => {
  await using home = await makeHome()
  const getPath = (label: string) => join(home.models, 'tide', `tide-${label}.gguf`)
  await mkdir(join(home.models, 'tide'), { recursive: true })
  for (const label of ['Q4_0', 'Q8_0']) {
    await copyFile(join(shippedModels, `shoal-tiny/shoal-tiny-${label}.gguf`), getPath(label))
  }
  await writeFile(getPath('Q6_K'), 'broken')
  const fitting = async (memoryBytes: number) =>
    (await shoalHere(['path', 'tide'], { home: home.path, memoryBytes })).stdout
  expect(await fitting(220e6)).toBe(`${getPath('Q8_0')}\n`)
  expect(await fitting(172.5e6)).toBe(`${getPath('Q4_0')}\n`)
})

test('an incomplete download is listed as incomplete, and has no path', async () => {
  await using home = await makeHome()
  await mkdir(join(home.models, 'tide'), { recursive: true })
  await writeFile(join(home.models, 'tide', 'tide-Q8_0.gguf.part'), 'half')
  expect((await shoalHere(['ls'], { home: home.path })).stdout).toContain('incomplete')
  const { stderr, exitCode } = await shoalHere(['path', 'tide'], { home: home.path })
  expect(stderr).toBe('✗ tide is only partly downloaded.\n  To resume: shoal pull tide\n')
  expect(exitCode).toBe(3)
})

test('rm deletes only after confirmation', async () => {
  await using home = await makeHome()
  const paths = ['Q4_0', 'Q8_0'].map((label) => join(home.models, 'tide', `tide-${label}.gguf`))
  for (const path of paths) await putModelFile(path)
  const refused = await shoalHere(['rm', 'tide'], { home: home.path })
  expect(refused.stderr).toContain(
    'Delete tide:Q4_0, tide:Q8_0 from this machine? This frees 1.95 MB.',
  )
  expect(refused.exitCode).toBe(2)
  expect(paths.every((path) => existsSync(path))).toBe(true)

  const { stderr } = await shoalHere(['rm', 'tide:Q4_0', '--yes'], { home: home.path })
  expect(stderr).toMatch(/^✓ Deleted tide:Q4_0\. 9\d\d KB freed\.\n$/)
  expect(paths.map((path) => existsSync(path))).toEqual([false, true])
})

test('verify reports files that shoal did not pull', async () => {
  await using home = await makeHome()
  const path = join(home.models, 'tide', 'tide-Q8_0.gguf')
  await putModelFile(path)
  const { stdout, exitCode } = await shoalHere(['verify', '-q'], { home: home.path })
  expect(stdout).toBe(`! tide:Q8_0  not pulled by shoal, so its hash is unknown: ${path}\n`)
  expect(exitCode).toBe(0)
})

test('verify names each part of a split file', async () => {
  await using home = await makeHome()
  const filenames = ['tide-Q8_0-00001-of-00002.gguf', 'tide-Q8_0-00002-of-00002.gguf']
  for (const filename of filenames) await putModelFile(join(home.models, 'tide', filename))
  const { stdout } = await shoalHere(['verify', '-q'], { home: home.path })
  expect(stdout.match(/^! tide:Q8_0 {2}\S+/gm)).toEqual(
    filenames.map((filename) => `! tide:Q8_0  ${filename}`),
  )
})

test('verify reports that there are no models', async () => {
  await using home = await makeHome()
  const outcome = await shoalHere(['verify'], { home: home.path })
  expect(outcome).toEqual({
    stdout: '',
    stderr: `No models in ${home.models} to verify.\n`,
    exitCode: 0,
  })
  expect((await shoalHere(['verify', '--json'], { home: home.path })).stdout).toBe('[]\n')
})

test('each name that ls prints refers to its file, and :latest refers to the default file', async () => {
  await using home = await makeHome()
  const at = { home: home.path }
  const paths = ['TIDE F32', 'TIDE F32 (1)'].map((stem) => {
    return join(home.models, 'tide', `${stem}.gguf`)
  })
  for (const path of paths) await putModelFile(path)
  const listed = await shoalHere(['ls', '--json'], at)
  const found = JSON.parse(listed.stdout) as { quantization: string }[]
  for (const { quantization } of found) {
    const { stdout } = await shoalHere(['path', `localhost:8000/tide:${quantization}`], at)
    expect(stdout).toBe(`${join(home.models, 'tide', quantization)}.gguf\n`)
  }
  const none = await shoalHere(['path', 'tide:TIDE F32 (2)'], at)
  expect(none.stderr).toContain('To download it: shoal pull "tide:TIDE F32 (2)"')

  const best = (await shoalHere(['path', 'tide:latest'], at)).stdout.trim()
  expect((await shoalHere(['rm', 'tide:latest', '--yes'], at)).exitCode).toBe(0)
  expect(paths.filter((path) => existsSync(path))).toEqual(paths.filter((path) => path !== best))
})
