import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { listLocalFiles, listModelFiles, readRecord } from '@shoal/transfer'
import { Ollama } from 'ollama'
import { expect, test } from 'vitest'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { shippedModels, useTestDaemon } from '../testing/test-daemon.ts'

const nano = join(shippedModels, 'shoal-nano', 'shoal-nano-Q8_0.gguf')

/** A daemon with a read-only folder that contains the model `foam`. */
async function useFolder() {
  const stack = new DisposableStack()
  const lab = stack.use(temporaryFolder()).path
  const models = stack.use(temporaryFolder()).path
  mkdirSync(join(lab, 'deep', 'er'), { recursive: true })
  const file = join(lab, 'deep', 'er', 'foam-Q8_0.gguf')
  copyFileSync(nano, file)
  const modelFolders = async () => [lab]
  const settings = { modelsDirectory: models, modelFolders }
  const daemon = await useTestDaemon(settings, scriptedRuntime())
  await daemon.preload('foam')
  const ollama = new Ollama({ host: daemon.url })
  const search = () => listModelFiles({ modelsDirectory: models, folders: [lab] })
  const close = () => stack.dispose()
  return { lab, models, file, ollama, search, [Symbol.dispose]: close }
}

test('a model in a read-only folder is listed, run and hashed, and nothing is written to the folder', async () => {
  using scene = await useFolder()
  const { lab, models, ollama } = scene
  expect((await ollama.list()).models).toMatchObject([{ name: 'foam:latest' }])
  expect((await ollama.generate({ model: 'foam', prompt: 'Hello' })).done).toBe(true)
  const path = join(models, 'foam', 'foam-Q8_0.gguf')
  await expect.poll(() => readRecord(path)).toBeDefined()
  expect(readdirSync(join(lab, 'deep', 'er'))).toEqual(['foam-Q8_0.gguf'])
  expect(readdirSync(lab)).toEqual(['deep'])
})

test('deleting a model in a read-only folder is refused', async () => {
  using scene = await useFolder()
  const { lab, file, ollama } = scene
  await expect(ollama.delete({ model: 'foam' })).rejects.toMatchObject({
    status_code: 409,
    error: expect.stringContaining(`'foam' is in ${lab}, which is read-only: nothing was deleted`),
  })
  expect(existsSync(file)).toBe(true)
  expect((await ollama.ps()).models).toHaveLength(1)
})

test('if the file of a loaded model vanishes, the model is unloaded, and the error contains the path', async () => {
  using scene = await useFolder()
  const { lab, models, file, ollama, search } = scene
  copyFileSync(nano, join(lab, 'wave-Q8_0.gguf'))
  const answer = await ollama.generate({ model: 'foam', prompt: 'Hello', stream: true })
  let pieces = 0
  for await (const _ of answer) {
    rmSync(file, { force: true })
    pieces += 1
  }
  expect(pieces).toBeGreaterThan(1)
  await expect(ollama.generate({ model: 'foam', prompt: 'Hello' })).rejects.toMatchObject({
    error: `${file} no longer exists`,
  })
  expect((await ollama.ps()).models).toEqual([])
  await search()
  expect(await listLocalFiles(models)).toMatchObject([{ modelName: 'wave' }])
  await expect(ollama.generate({ model: 'foam', prompt: 'Hello' })).rejects.toMatchObject({
    status_code: 404,
  })
})

test('if the file of a loaded model changes, the model is loaded again', async () => {
  using scene = await useFolder()
  const { file, ollama } = scene
  await ollama.generate({ model: 'foam', prompt: 'Hello' })
  copyFileSync(join(shippedModels, 'shoal-tiny', 'shoal-tiny-Q4_0.gguf'), file)
  await ollama.generate({ model: 'foam', prompt: 'Hello' })
  const [loaded] = (await ollama.ps()).models
  expect(loaded?.details.quantization_level).toBe('Q4_0')
})
