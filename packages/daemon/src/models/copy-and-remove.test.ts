import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Ollama } from 'ollama'
import { expect, onTestFinished, test } from 'vitest'
import { addModel, addShards } from '../testing/gguf-of-test.ts'
import { postJson } from '../testing/post-json.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { useTestDaemon } from '../testing/test-daemon.ts'

async function start() {
  const daemon = await useTestDaemon({}, scriptedRuntime())
  return { ...daemon, ollama: new Ollama({ host: daemon.url }) }
}

const prompt = 'Hello'

test('a copy is the same file under a second name, and both names work', async () => {
  const { folder, ollama } = await start()
  await ollama.copy({ source: 'shoal-tiny:latest', destination: 'mine' })
  const paths = ['shoal-tiny', 'mine'].map((name) => join(folder, name, 'shoal-tiny-Q8_0.gguf'))
  const [first, second] = paths.map((path) => statSync(path).ino)
  expect(second).toBe(first)
  expect((await ollama.generate({ model: 'mine', prompt })).model).toBe('mine')
  await ollama.delete({ model: 'shoal-tiny' })
  expect((await ollama.generate({ model: 'mine:Q8_0', prompt })).done).toBe(true)
})

test('copying a model twice is not an error, but replacing another model is', async () => {
  const { ollama } = await start()
  const copy = { source: 'shoal-tiny', destination: 'mine' }
  await ollama.copy(copy)
  await ollama.copy(copy)
  await ollama.copy({ source: 'shoal-tiny', destination: 'shoal-tiny' })
  const over = ollama.copy({ source: 'shoal-tiny', destination: 'shoal-nano' })
  await expect(over).rejects.toMatchObject({ status_code: 409 })
})

test.each(['../mine', 'a', 'my model', 'mine:v2', 'host/mine', '.hidden'])(
  '“%s” is not a valid name for a copy',
  async (destination) => {
    const { ollama } = await start()
    const copying = ollama.copy({ source: 'shoal-tiny', destination })
    await expect(copying).rejects.toMatchObject({ status_code: 400 })
  },
)

test('all parts of a split model are copied and deleted', async () => {
  const { folder, ollama } = await start()
  addShards(folder, 'split')
  await ollama.copy({ source: 'split', destination: 'twin' })
  await ollama.delete({ model: 'split' })
  expect(existsSync(join(folder, 'split'))).toBe(false)
  const parts = readdirSync(join(folder, 'twin')).filter((name) => name.endsWith('.gguf'))
  expect(parts).toHaveLength(2)
  expect((await ollama.list()).models.map(({ name }) => name)).toContain('twin:latest')
})

test('a deleted model is unloaded, and its files are gone', async () => {
  const { folder, ollama } = await start()
  addModel(folder, 'doomed', {})
  await ollama.generate({ model: 'doomed', prompt })
  expect((await ollama.ps()).models).toHaveLength(1)
  await ollama.delete({ model: 'doomed' })
  expect((await ollama.ps()).models).toEqual([])
  expect(existsSync(join(folder, 'doomed'))).toBe(false)
  const again = ollama.generate({ model: 'doomed', prompt })
  await expect(again).rejects.toMatchObject({ status_code: 404 })
})

test('a model in use is not deleted', async () => {
  const { folder, ollama } = await start()
  const path = addModel(folder, 'busy', {})
  const hidden = join(folder, 'busy', '.shoal')
  mkdirSync(hidden)
  using lock = new DatabaseSync(join(hidden, `${basename(path)}.lock`))
  lock.exec('BEGIN EXCLUSIVE')
  await expect(ollama.delete({ model: 'busy' })).rejects.toMatchObject({
    status_code: 409,
    error: "'busy' is being pulled or copied: try again later",
  })
  expect(existsSync(path)).toBe(true)
})

/** Creates the model `linked` in another folder, and a link to it in the models folder. */
function addLinkedModel(folder: string): string {
  const elsewhere = mkdtempSync(join(tmpdir(), 'shoal-elsewhere-'))
  onTestFinished(() => rmSync(elsewhere, { recursive: true }))
  addModel(elsewhere, 'linked', {})
  symlinkSync(join(elsewhere, 'linked'), join(folder, 'linked'))
  return join(elsewhere, 'linked')
}

test('if a model is in a linked folder, only the link is deleted', async () => {
  const { folder, ollama } = await start()
  const elsewhere = addLinkedModel(folder)
  await ollama.delete({ model: 'linked' })
  expect(existsSync(join(folder, 'linked'))).toBe(false)
  expect(readdirSync(elsewhere)).toEqual(['linked-F32.gguf'])
})

test('a link to a folder that also contains other models is not deleted', async () => {
  const { folder, ollama } = await start()
  const elsewhere = addLinkedModel(folder)
  writeFileSync(join(elsewhere, 'other.gguf.part'), '')
  await expect(ollama.delete({ model: 'linked' })).rejects.toMatchObject({
    status_code: 409,
    error: expect.stringContaining('which contains other models too: nothing was deleted'),
  })
  expect(readdirSync(join(folder, 'linked'))).toHaveLength(2)
})

test('nothing is copied or created through a link', async () => {
  const { url, folder, ollama } = await start()
  const elsewhere = addLinkedModel(folder)
  symlinkSync(join(elsewhere, '..'), join(folder, 'empty'))
  const before = readdirSync(join(elsewhere, '..'), { recursive: true })
  const post = (path: string, body: object) => postJson(`${url}/api/${path}`, body)
  const answers = [
    await post('copy', { source: 'shoal-nano', destination: 'empty' }),
    await post('create', { model: 'empty', from: 'shoal-nano' }),
    await post('create', { model: 'linked', from: 'linked', system: 'Be kind.' }),
  ]
  for (const answer of answers) {
    expect(await answer.json()).toMatchObject({ code: 'model_linked' })
    expect(answer.status).toBe(409)
  }
  await ollama.copy({ source: 'linked', destination: 'own' })
  expect(readdirSync(join(elsewhere, '..'), { recursive: true })).toEqual(before)
})
