import { renameSync, rmSync, utimesSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type Clock, systemClock } from '@shoal/core/async'
import { movedClock } from '@shoal/core/testing'
import { expect, test, vi } from 'vitest'
import { modelUnusable, processLost } from '../runtime/runtime.ts'
import { addModel } from '../testing/gguf-of-test.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { useTestDaemon } from '../testing/test-daemon.ts'
import { loadedModels } from './loaded-models.ts'
import { localModels } from './local-models.ts'

/** Starts a daemon with the demo models. Records the path of each loaded file, and its number of slots. */
async function start(
  script: Parameters<typeof scriptedRuntime>[0] = {},
  settings: Parameters<typeof useTestDaemon>[0] = {},
) {
  const loads: string[] = []
  const slots: number[] = []
  const daemon = await useTestDaemon(settings, async (options) => {
    loads.push(options.modelPath)
    slots.push(options.slots)
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
    slots,
    post,
    ids,
    load: (model: string) => post('/api/load', { model, keep_alive: -1 }),
    unload: (model: string) => post('/api/unload', { model }),
    /** Adds a file with another quantization to a model. */
    addQuantization(name: string, label: string, fileType: number) {
      const path = join(folder, name, `${name}-${label}.gguf`)
      const made = addModel(folder, 'made', { 'general.file_type': fileType })
      renameSync(made, path)
      return path
    },
    add: (name: string, metadata = {}) => addModel(folder, name, metadata),
  }
}

test('a loaded model whose file is gone can be unloaded, and is unloaded when models are listed', async () => {
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

test('a loaded model is listed with its quantization when its name refers to another file', async () => {
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

test("if a file is gone, its model's name refers to the remaining file", async () => {
  const { addQuantization, add, load, unload, ids } = await start()
  add('twofold')
  const chosen = addQuantization('twofold', 'Q8_0', 7)
  await load('twofold')
  rmSync(chosen)
  expect(await unload('twofold')).toMatchObject({ unloaded: true })
  expect(await load('twofold')).toMatchObject({ details: { quantization_level: 'F32' } })
  expect(await ids()).toEqual(['twofold'])
})

test('a replaced file is loaded for the next request', async () => {
  const { add, load, loads } = await start()
  const path = add('changing')
  expect(await load('changing')).toMatchObject({ context_length: 4096 })
  add('changing', { 'llama.context_length': 2048 })
  utimesSync(path, new Date(), new Date(Date.now() + 5_000))
  expect(await load('changing')).toMatchObject({ context_length: 2048 })
  expect(await load('changing')).toMatchObject({ context_length: 2048 })
  expect(loads).toEqual([path, path])
})

test('a model that is answering requests stays loaded when its file is replaced, until it is idle', async () => {
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

const dimensions = (layers: number, width: number) => ({
  'llama.block_count': layers,
  'llama.embedding_length': width,
  'llama.attention.head_count': width / 64,
})
const small = dimensions(1, 64)
/** Two small models take about 290 MB. */
const roomForTwo = { memoryBytes: 350e6 }

test('if there is not enough memory, the least recently used model is unloaded', async () => {
  const { add, load, ids } = await start({}, roomForTwo)
  for (const name of ['one', 'two', 'three']) add(name, small)
  await load('one')
  await load('two')
  await load('one')
  expect(await ids()).toEqual(['one', 'two'])
  await load('three')
  expect(await ids()).toEqual(['one', 'three'])
})

test('simultaneous first requests load a model once, and it is unloaded after its keep-alive time', async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  const { add, post, loads, ids } = await start({ pace: () => gate })
  add('asked')
  const choice = { model: 'asked', keep_alive: '200ms' }
  const request = { ...choice, prompt: 'Hi', stream: false }
  const asked = Array.from({ length: 8 }, () => post('/api/generate', request))
  await expect.poll(async () => (await post('/api/load', choice)).requests).toBe(8)
  open()
  await Promise.all(asked)
  expect(loads).toHaveLength(1)
  await expect.poll(ids).toEqual([])
})

test('if there is not enough memory, a model has fewer conversations, but at least one', async () => {
  const wide = { ...dimensions(32, 1024), 'llama.context_length': 8192 } // 1 GiB per conversation
  const settings = { slots: 4, contextLength: 8192 }
  const { add, load, slots } = await start({}, { ...settings, memoryBytes: 2.5e9 })
  add('wide', wide)
  await load('wide')
  const tight = await start({}, { ...settings, memoryBytes: 1e9 })
  tight.add('wide', wide)
  expect(await tight.load('wide')).toMatchObject({ code: 'insufficient_memory' })
  expect([slots, tight.slots]).toEqual([[2], []])
})

test('a context that needs far more memory than is available is rejected before anything is loaded', async () => {
  const { add, post, loads } = await start({}, { contextLength: 2 ** 24 })
  add('long', { ...dimensions(80, 8192), 'llama.context_length': 2 ** 24 })
  const refused = await post('/api/load', { model: 'long' })
  expect(refused).toMatchObject({ code: 'insufficient_memory' })
  expect(loads).toEqual([])
})

/** Opens the models in this folder without starting a daemon. */
function openModels(
  folder: string,
  {
    clock = systemClock,
    memoryBytes = 1e9,
    failures = {},
  }: { clock?: Clock; memoryBytes?: number; failures?: Record<string, Error> } = {},
) {
  const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() }
  const local = localModels(folder, memoryBytes, log)
  const loads: string[] = []
  const models = loadedModels({
    local,
    async startRuntime(options) {
      const name = basename(dirname(options.modelPath))
      loads.push(name)
      if (failures[name]) throw failures[name]
      return await scriptedRuntime()(options)
    },
    memoryBytes,
    contextLength: 512,
    slots: 1,
    threads: 1,
    queueLength: 1,
    keepAliveMs: 0,
    log,
    clock,
  })
  const countWaits = () =>
    log.info.mock.calls.filter(([, text]) => text === 'a model waits until others are idle').length
  /** Resolves when models have waited for memory this many times. */
  const untilWaiting = (times = 1) => expect.poll(countWaits).toBeGreaterThanOrEqual(times)
  return { models, local, loads, untilWaiting }
}

test('a model that does not fit beside busy ones is loaded when they are idle, before later requests for them', async () => {
  using folder = temporaryFolder()
  for (const name of ['one', 'two', 'three']) addModel(folder.path, name, small)
  const { models, loads, untilWaiting } = openModels(folder.path, roomForTwo)
  const first = await models.use('one', { keepAliveMs: -1 })
  using _second = await models.use('two')
  const third = models.use('three', { keepAliveMs: -1 })
  await untilWaiting()
  const again = models.use('one')
  first[Symbol.dispose]()
  const used = await third
  expect(loads).toEqual(['one', 'two', 'three'])
  used[Symbol.dispose]()
  using _again = await again
  expect(loads).toEqual(['one', 'two', 'three', 'one'])
  await models.close()
})

test('a model whose clients have left is not loaded, and the busy models stay loaded', async () => {
  using folder = temporaryFolder()
  for (const name of ['one', 'two', 'three', 'four']) addModel(folder.path, name, small)
  const { models, loads, untilWaiting } = openModels(folder.path, roomForTwo)
  using _first = await models.use('one')
  const second = await models.use('two')
  const leaving = new AbortController()
  const third = models.use('three', leaving)
  await untilWaiting()
  const fourth = models.use('four')
  leaving.abort(new Error('the client left'))
  await expect(third).rejects.toThrow('the client left')
  second[Symbol.dispose]()
  using _fourth = await fourth
  using _again = await models.use('one')
  expect(loads).toEqual(['one', 'two', 'four'])
  const fifth = models.use('two')
  await untilWaiting(3)
  await Promise.all([models.close(), expect(fifth).rejects.toThrow('unloaded')])
})

test('a file that cannot be loaded is not tried again until it changes, and one that crashes is tried twice', async () => {
  using folder = temporaryFolder()
  for (const name of ['odd', 'frail']) addModel(folder.path, name, {})
  const failures: Record<string, Error> = {
    odd: modelUnusable('unknown model architecture'),
    frail: processLost({ killedBy: 'SIGABRT', how: 'was killed by SIGABRT' }),
  }
  const { models, loads } = openModels(folder.path, { failures })
  const reasonsOf = async (name: string, times: number) => {
    const reasons: (string | null)[] = []
    for (let time = 0; time < times; time += 1) {
      await models.use(name).catch(({ details }) => reasons.push(details.reason))
    }
    return reasons
  }
  expect(await reasonsOf('odd', 2)).toEqual(['model_unusable', 'model_unusable'])
  const twice = ['model_not_loaded', 'model_unusable', 'model_unusable']
  expect(await reasonsOf('frail', 3)).toEqual(twice)
  expect(loads).toEqual(['odd', 'frail', 'frail'])
  addModel(folder.path, 'odd', { 'llama.context_length': 2048 })
  delete failures.odd
  using _used = await models.use('odd')
  await models.close()
})

test('only files that can be run are listed, and a request for another file says what it is', async () => {
  using folder = temporaryFolder()
  addModel(folder.path, 'tide', {})
  addModel(folder.path, 'lora', { 'general.type': 'adapter' })
  const { models, local } = openModels(folder.path)
  expect(await local.list()).toMatchObject([{ id: 'tide' }])
  await expect(models.use('lora')).rejects.toMatchObject({
    message: "lora-F32.gguf is not a model, but a file of the kind 'LoRA adapter'",
    details: { status: 400, reason: 'model_unusable' },
  })
})

test('the models folder is not listed for a loaded model whose folder has not changed', async () => {
  using folder = temporaryFolder()
  const { models, local } = openModels(folder.path)
  const list = vi.spyOn(local, 'list')
  const path = addModel(folder.path, 'tide', {})
  const load = async () => (await models.load('tide', { keepAliveMs: -1 })).model
  const setTimes = (file: string, secondsAgo: number) => {
    const time = new Date(Date.now() - 1000 * secondsAgo)
    utimesSync(file, time, time)
  }
  const folderPath = dirname(path)
  setTimes(folderPath, 100)
  await load()
  await load()
  list.mockClear()
  expect(await load()).toMatchObject({ path })
  expect(list).not.toHaveBeenCalled()

  setTimes(path, 50)
  expect((await load()).modifiedAt.getTime()).toBeLessThan(Date.now() - 49_000)
  await load()
  list.mockClear()
  await load()
  expect(list).not.toHaveBeenCalled()

  renameSync(addModel(folder.path, 'made', { 'general.file_type': 7 }), join(folderPath, 'b.gguf'))
  expect((await load()).quantization).toBe('Q8_0')
  await load()
  await load()
  expect(list).toHaveBeenCalledTimes(3) // the folder has just changed
  await models.close()
})

test('a model may stay loaded for longer than a timer can wait', async () => {
  using folder = temporaryFolder()
  addModel(folder.path, 'tide', {})
  const clock = movedClock()
  const after: Clock['after'] = (ms, run) => {
    expect(ms).toBeLessThan(2 ** 31) // otherwise, a timer would call `run` immediately
    return clock.after(ms, run)
  }
  const { models } = openModels(folder.path, { clock: { ...clock, after } })
  const days = (count: number) => count * 86_400_000
  await models.load('tide', { keepAliveMs: days(90) })
  clock.advance(days(89))
  expect(await models.list()).toHaveLength(1)
  clock.advance(days(1))
  expect(await models.list()).toHaveLength(0)
})

test('a model is found by any name under which it is listed, with or without a registry', async () => {
  const { addQuantization, add, load, ids } = await start()
  add('tide')
  addQuantization('tide', 'F32 (1)', 0)
  addQuantization('tide', 'Q8_0', 7)
  for (const [text, name] of [
    ['localhost:8000/tide', 'tide:latest'],
    ['Tide:LATEST', 'tide:latest'],
    ['tide:TIDE-F32 (1)', 'tide:tide-F32 (1)'],
    ['localhost:8000/tide:tide-f32.gguf', 'tide:tide-F32'],
    ['tide:Q8_0', 'tide:latest'],
  ] as const) {
    expect(await load(text), text).toMatchObject({ name })
  }
  expect(await ids()).toEqual(['tide', 'tide:tide-F32', 'tide:tide-F32 (1)'])
})

test('if two files have the same quantization, the quantization refers to the default file', async () => {
  const { addQuantization, add, load } = await start()
  add('twin', { 'general.description': 'the larger one, and so the default' })
  addQuantization('twin', 'F32 (1)', 0)
  expect(await load('twin:F32')).toMatchObject({ name: 'twin:latest' })
})
