import { expect, test, vi } from 'vitest'
import { makeChatGeneration, runGeneration } from '../testing/generations.ts'
import { postJson } from '../testing/post-json.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { useTestDaemon } from '../testing/test-daemon.ts'
import { openCrashLog, survivingRuntime } from './surviving-runtime.ts'

const model = 'shoal-nano'
const options = { modelPath: 'tide.gguf', contextLength: 512, slots: 1, threads: 1 }

/**
 * Starts a daemon whose model's first process crashes after `deaths[0]` parts of an answer, the second after
 * `deaths[1]` parts, and so on. A process whose number is missing or undefined does not crash.
 */
async function start(deaths: (number | undefined)[]) {
  let processes = 0
  const { url } = await useTestDaemon({}, async (options) => {
    const diesAfter = deaths[processes++]
    const runtime = await scriptedRuntime(diesAfter === undefined ? {} : { diesAfter })(options)
    return { ...runtime, pid: processes }
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
  return { ask, count: () => processes }
}

test("if a model's process exits during a request, the request fails and the next one gets a new process", async () => {
  for (const parts of [0, 2]) {
    const { ask, count } = await start([parts])
    expect(await ask('Hi')).toMatchObject({ status: 500, result: 'model_lost' })
    expect(count()).toBe(1)
    expect(await ask('Hi')).toMatchObject({ status: 200, result: 'Hello! How are you?' })
  }
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

test('a request that has crashed its process twice is refused for a minute, and other requests are not', async () => {
  const { ask } = await start([0, 0])
  for (let crash = 0; crash < 2; crash += 1) {
    expect(await ask('poison')).toMatchObject({ status: 500, result: 'model_lost' })
  }
  expect(await ask('poison')).toEqual({ status: 503, result: 'crashes_model', retryAfter: '60' })
  expect(await ask('Hi')).toMatchObject({ status: 200 })
})
