import { expect, test, vi } from 'vitest'
import { type Generation, processLost, type Runtime } from '../runtime/runtime.ts'
import { makeChatGeneration, runGeneration } from '../testing/generations.ts'
import { postJson } from '../testing/post-json.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { useTestDaemon } from '../testing/test-daemon.ts'
import { openCrashLog, survivingRuntime } from './surviving-runtime.ts'

const model = 'shoal-nano'
const options = { modelPath: 'tide.gguf', contextLength: 512, slots: 1, threads: 1 }

/**
 * Starts a daemon whose model's first process ends after `deaths[0]` parts of an answer, the second after `deaths[1]`
 * parts, and so on. A process whose number is missing does not end.
 */
async function start(deaths: number[], diesOf: 'SIGSEGV' | 'SIGKILL' = 'SIGSEGV') {
  let processes = 0
  const { url } = await useTestDaemon({}, async (options) => {
    const diesAfter = deaths[processes++]
    const script = diesAfter === undefined ? {} : { diesAfter, diesOf }
    return { ...(await scriptedRuntime(script)(options)), pid: processes }
  })
  const ask = async (content: string) => {
    const body = { model, messages: [{ role: 'user', content }] }
    const response = await postJson(`${url}/v1/chat/completions`, body)
    const answer = (await response.json()) as {
      choices?: { message: { content: string } }[]
      error?: { code: string }
    }
    const { status } = response
    const result = answer.choices?.[0]?.message.content ?? answer.error?.code
    return { status, result, retryAfter: response.headers.get('retry-after') }
  }
  return { url, ask, count: () => processes }
}

const success = { status: 200, result: 'Hello! How are you?' }
const loss = { status: 500, result: 'model_lost' }

test('a request whose process exits before any output is sent once more, to a new process', async () => {
  const { url, count } = await start([0])
  const body = { model, messages: [{ role: 'user', content: 'Hi' }], stream: true }
  const text = await (await postJson(`${url}/v1/chat/completions`, body)).text()
  expect(text.match(/"role":"assistant"/g)).toHaveLength(1)
  expect(text).toMatch(/Hello.*\[DONE\]/s)
  expect(count()).toBe(2)
})

test('a request whose process exits after some output fails, and the next one gets a new process', async () => {
  const { ask, count } = await start([2])
  expect(await ask('Hi')).toMatchObject(loss)
  expect(count()).toBe(1)
  expect(await ask('Hi')).toMatchObject(success)
})

test('a request that has crashed its process twice is refused for a minute, and other requests are not', async () => {
  const { ask } = await start([0, 0])
  expect(await ask('poison')).toMatchObject(loss)
  expect(await ask('poison')).toEqual({ status: 503, result: 'crashes_model', retryAfter: '60' })
  expect(await ask('Hi')).toMatchObject(success)
})

test('a request is not refused if its processes were killed from outside', async () => {
  const { ask } = await start([0, 0], 'SIGKILL')
  expect(await ask('Hi')).toMatchObject(loss)
  expect(await ask('Hi')).toMatchObject(success)
})

/** A process that crashes, with all its requests, when one of them contains the word `poison`. */
async function frailProcess(pid: number): Promise<Runtime> {
  const runtime = await scriptedRuntime()(options)
  const crash = Promise.withResolvers<never>()
  crash.promise.catch(() => undefined) // observed by the requests in progress
  const ended = crash.promise.catch(({ message }: Error) => message)
  const isPoison = (input: unknown) => JSON.stringify(input).includes('poison')
  const meet = async (input: unknown) => {
    await Promise.resolve() // all requests have begun
    if (isPoison(input)) crash.reject(processLost({ killedBy: 'SIGSEGV', how: 'crashed' }))
    else await Promise.race([crash.promise, new Promise(setImmediate)])
  }
  return {
    ...runtime,
    pid,
    ended,
    async *generate(generation: Generation, signal: AbortSignal) {
      yield {}
      await meet(generation.prompt)
      if (isPoison(generation.prompt)) await crash.promise
      return yield* runtime.generate(generation, signal)
    },
    async embed(texts, signal) {
      await meet(texts)
      if (isPoison(texts)) await crash.promise
      return await runtime.embed(texts, signal)
    },
  }
}

test('of the requests during a crash, only the one that also crashes a process alone is blamed', async () => {
  const crashes = openCrashLog()
  let processes = 1
  let current = await frailProcess(processes)
  const useAgain = async () => {
    const isGone = await Promise.race([current.ended, Promise.resolve(undefined)])
    if (isGone !== undefined) current = await frailProcess(++processes)
    return { runtime: current, [Symbol.dispose]: () => undefined }
  }
  const surviving = () => survivingRuntime(current, { modelPath: 'tide.gguf', crashes, useAgain })
  const ask = (content: string) => runGeneration(surviving(), makeChatGeneration(content))
  const embed = () => surviving().embed(['a text'], new AbortController().signal)
  for (let round = 0; round < 2; round += 1) {
    const [poison, innocent, vectors] = await Promise.allSettled([
      ask('poison'),
      ask('Hi'),
      embed(),
    ])
    expect(poison).toMatchObject({ reason: { code: 'model_lost' } })
    expect(innocent).toMatchObject({ value: { text: 'Hello! How are you?' } })
    expect(vectors).toMatchObject({ status: 'fulfilled' })
    await useAgain()
  }
  await expect(ask('poison')).rejects.toMatchObject({ details: { reason: 'crashes_model' } })
  expect(await ask('Hi')).toMatchObject({ reason: 'stop' })
})

test("if a model's process has exited before a request is sent to it, the request is sent to a new process", async () => {
  const [dead, alive] = [await scriptedRuntime()(options), await scriptedRuntime()(options)]
  const gone = { ...dead, ended: Promise.resolve('it was killed') }
  const runtime = survivingRuntime(gone, {
    modelPath: 'tide.gguf',
    crashes: openCrashLog(),
    useAgain: async () => ({ runtime: alive, [Symbol.dispose]: () => undefined }),
  })
  await gone.ended
  const generate = vi.spyOn(alive, 'generate')
  expect(await runGeneration(runtime, makeChatGeneration('Hi'))).toMatchObject({
    text: 'Hello! How are you?',
  })
  expect(generate).toHaveBeenCalledOnce()
})
