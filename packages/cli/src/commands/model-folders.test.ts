/** Tests read-only model folders through the commands that use them. */
import { existsSync, statSync } from 'node:fs'
import { chmod, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { expect, test } from 'vitest'
import { putModelFile } from '../testing/local-files.ts'
import { makeHome } from '../testing/run-shoal.ts'
import { shoalHere } from '../testing/shoal-here.ts'
import { withoutRoot } from '../testing/without-root.ts'

/** Creates a home and two folders: `lab` contains the model tide, and a subfolder of `nas` contains the model surf. */
async function useFolders() {
  const home = await makeHome()
  const [lab, nas] = [join(home.path, 'lab'), join(home.path, 'nas')]
  const tide = join(lab, 'tide-Q8_0.gguf')
  const surf = join(nas, 'a', 'b', 'surf-Q8_0.gguf')
  await putModelFile(tide)
  await putModelFile(surf)
  const shoal = (...words: string[]) => shoalHere(words, { home: home.path })
  return { ...home, lab, nas, tide, surf, shoal }
}

const listed = async (shoal: (...words: string[]) => Promise<{ stdout: string }>) =>
  (JSON.parse((await shoal('ls', '--json')).stdout) as { model: string }[]).map(
    ({ model }) => model,
  )

test('the models in read-only folders can be listed, found, verified and run', async () => {
  await using home = await useFolders()
  const { lab, nas, tide, surf, shoal } = home
  const set = await shoal('config', 'set', 'model-folders', [lab, nas].join(delimiter))
  expect(set.stderr).toBe(`✓ Set model-folders.\n  ${lab}: 1 file\n  ${nas}: 1 file\n`)
  const { stdout } = await shoal('ls')
  expect(stdout).toContain(`from ${tide}`)
  expect(stdout).toContain(`from ${surf}`)
  const found = await shoal('path', 'surf')
  expect(found.stdout).toBe(`${join(home.models, 'surf', 'surf-Q8_0.gguf')}\n`)
  const verified = await shoal('verify', 'tide')
  expect(verified).toMatchObject({ stdout: '✓ tide:Q8_0  intact\n', exitCode: 0 })
  const answer = await shoal('run', 'surf', 'Hello', '--max-tokens', '2')
  expect(answer.exitCode).toBe(0)
  expect(await readdir(lab)).toEqual(['tide-Q8_0.gguf'])
  expect(await readdir(join(nas, 'a', 'b'))).toEqual(['surf-Q8_0.gguf'])

  await shoal('config', 'set', 'model-folders', nas)
  expect(await listed(shoal)).toEqual(['surf'])
  await shoal('config', 'set', 'model-folders', '')
  expect(await listed(shoal)).toEqual([])
  expect(await readdir(home.models)).toEqual([])
})

test('the variable overrides the saved setting, and a list in config.json is accepted', async () => {
  await using home = await useFolders()
  const { lab, nas, shoal } = home
  await mkdir(join(home.path, 'config'))
  const config = join(home.path, 'config', 'config.json')
  await writeFile(config, JSON.stringify({ 'model-folders': [lab] }))
  expect(await listed(shoal)).toEqual(['tide'])
  const env = { SHOAL_MODEL_FOLDERS: nas }
  const { stdout, stderr } = await shoalHere(['ls', '--json'], { home: home.path, env })
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toContainEqual(
    expect.objectContaining({ model: 'surf', imported: expect.objectContaining({ folder: nas }) }),
  )
})

test('rm does not delete a model in a read-only folder, and states the reason', async () => {
  await using home = await useFolders()
  const { lab, tide, shoal } = home
  await shoal('config', 'set', 'model-folders', lab)
  const before = statSync(tide)
  const refused = await shoal('rm', 'tide', '--yes')
  expect(refused.stderr).toContain(`✗ tide:Q8_0 is in ${lab}, which is read-only.\n`)
  expect(refused.stderr).toContain('or remove the folder from the model-folders setting.')
  expect(refused.exitCode).toBe(1)
  expect(statSync(tide)).toMatchObject({ ino: before.ino, ctimeMs: before.ctimeMs })
  expect(await listed(shoal)).toEqual(['tide'])
  await rename(lab, join(home.path, 'unmounted'))
  const forgotten = await shoal('rm', 'tide', '--yes')
  expect(forgotten.stderr).toContain('✓ Forgot tide:Q8_0.')
  await rename(join(home.path, 'unmounted'), lab)
  expect(await listed(shoal)).toEqual(['tide'])
})

test('a folder that does not exist or cannot be read is reported, and the others are listed', async () => {
  await using home = await useFolders()
  const { lab, nas, shoal } = home
  const missing = join(home.path, 'missing')
  const set = await shoal('config', 'set', 'model-folders', [missing, lab, nas].join(delimiter))
  expect(set.stderr).toBe(
    `✓ Set model-folders.\n! Skipped ${missing}: it does not exist.\n  ${lab}: 1 file\n  ${nas}: 1 file\n`,
  )
  expect(set.exitCode).toBe(0)
  const unknown = await shoal('path', 'foam')
  expect(unknown.stderr).toContain(
    `The model folder ${missing} was not searched: it does not exist`,
  )
  const inner = join(nas, 'a')
  await chmod(inner, 0)
  const unreadable = await withoutRoot(home.path, () => shoal('ls'))
  await chmod(inner, 0o755)
  expect(unreadable.stderr).toContain(`! Skipped ${inner}: permission denied.\n`)
  expect(unreadable.stdout).toContain('tide:Q8_0')
  expect(unreadable.exitCode).toBe(0)
  expect(await listed(shoal)).toEqual(['surf', 'tide'])
})

test('if a folder is missing, its models are listed as missing, and errors contain the path of the file', async () => {
  await using home = await useFolders()
  const { lab, tide, shoal } = home
  await shoal('config', 'set', 'model-folders', lab)
  await rm(lab, { recursive: true })
  const { stdout, stderr } = await shoal('ls')
  expect(stdout).toContain(`missing: ${tide} no longer exists`)
  expect(stderr).toContain(`! Skipped ${lab}: it does not exist.`)
  expect((await shoal('path', 'tide')).stderr).toContain(`✗ ${tide} no longer exists.`)
})

test('completion does not search the folders', async () => {
  await using home = await useFolders()
  const env = { SHOAL_MODEL_FOLDERS: home.lab }
  const { stdout } = await shoalHere(['__complete', 'shoal run '], { home: home.path, env })
  expect(stdout).not.toContain('tide')
  expect(existsSync(home.models)).toBe(false)
})
