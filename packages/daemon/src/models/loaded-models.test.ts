import { renameSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { addModel } from '../testing/gguf-of-test.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { daemonOfTest } from '../testing/test-daemon.ts'

/** With models of ours, and the paths of the files that were loaded. */
async function start(script: Parameters<typeof scriptedRuntime>[0] = {}) {
  const loads: string[] = []
  const daemon = await daemonOfTest({}, async (options) => {
    loads.push(options.modelPath)
    return scriptedRuntime(script)(options)
  })
  const { url, folder } = daemon
  const post = async (path: string, body: object) => {
    const answer = await fetch(url + path, { method: 'POST', body: JSON.stringify(body) })
    return (await answer.json()) as Record<string, unknown>
  }
  const ids = async () => {
    const { data } = (await (await fetch(`${url}/v1/models`)).json()) as { data: { id: string }[] }
    return data.map(({ id }) => id).toSorted()
  }
  return {
    loads,
    post,
    ids,
    load: (model: string) => post('/api/load', { model, keep_alive: -1 }),
    unload: (model: string) => post('/api/unload', { model }),
    /** Puts a file of another quantization beside those that a model has. */
    addQuantization(name: string, label: string, fileType: number) {
      const path = join(folder, name, `${name}-${label}.gguf`)
      const made = addModel(folder, 'made', { 'general.file_type': fileType })
      renameSync(made, path)
      return path
    },
    add: (name: string, metadata = {}) => addModel(folder, name, metadata),
  }
}

test('a loaded model whose file is gone can be unloaded, and is not listed for ever', async () => {
  const { add, load, unload, ids } = await start()
  const path = add('doomed')
  await load('doomed')
  rmSync(path)
  expect(await unload('doomed')).toEqual({ model: 'doomed', unloaded: true })
  add('doomed')
  await load('doomed')
  rmSync(path)
  expect(await ids()).toEqual([])
})

test('a loaded model that no longer is what its name alone means is called by its quantization', async () => {
  const { addQuantization, add, load, unload, ids } = await start()
  add('twofold')
  await load('twofold')
  addQuantization('twofold', 'Q8_0', 7)
  expect(await ids()).toEqual(['twofold:F32'])
  expect(await unload('twofold')).toMatchObject({ unloaded: false })
  await load('twofold')
  expect(await ids()).toEqual(['twofold', 'twofold:F32'])
  expect(await unload('twofold:F32')).toMatchObject({ unloaded: true })
  expect(await ids()).toEqual(['twofold'])
})

test('what is left of a name is loaded under it when the file that had it is gone', async () => {
  const { addQuantization, add, load, unload, ids } = await start()
  add('twofold')
  const chosen = addQuantization('twofold', 'Q8_0', 7)
  await load('twofold')
  rmSync(chosen)
  expect(await unload('twofold')).toMatchObject({ unloaded: true })
  expect(await load('twofold')).toMatchObject({ details: { quantization_level: 'F32' } })
  expect(await ids()).toEqual(['twofold'])
})

test('a file that was replaced is loaded at the next use', async () => {
  const { add, load, loads } = await start()
  const path = add('changing')
  expect(await load('changing')).toMatchObject({ context_length: 4096 })
  add('changing', { 'llama.context_length': 2048 })
  utimesSync(path, new Date(), new Date(Date.now() + 5_000))
  expect(await load('changing')).toMatchObject({ context_length: 2048 })
  expect(await load('changing')).toMatchObject({ context_length: 2048 })
  expect(loads).toEqual([path, path])
})

test('a model that is answering goes on when its file is replaced', async () => {
  const pace = Promise.withResolvers<void>()
  const { add, post, load, loads } = await start({ pace: () => pace.promise })
  const path = add('changing')
  await load('changing')
  const asked = { model: 'changing', prompt: 'Hello', stream: false }
  const first = post('/api/generate', asked)
  await expect.poll(async () => (await load('changing')).requests).toBe(1)
  add('changing', { 'llama.context_length': 2048 })
  utimesSync(path, new Date(), new Date(Date.now() + 5_000))
  const second = post('/api/generate', asked)
  expect(await load('changing')).toMatchObject({ context_length: 4096 })
  pace.resolve()
  for (const answer of [first, second]) expect(await answer).toMatchObject({ done: true })
  expect(await load('changing')).toMatchObject({ context_length: 2048 })
  expect(loads).toHaveLength(2)
})
