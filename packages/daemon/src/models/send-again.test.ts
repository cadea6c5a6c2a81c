import { expect, test } from 'vitest'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { useTestDaemon } from '../testing/test-daemon.ts'

const model = 'shoal-nano'

/** Starts a daemon. Each of its model's processes exits after the given number of parts; undefined for never. */
async function start(deaths: (number | undefined)[]) {
  let processes = 0
  const { url } = await useTestDaemon({}, async (options) => {
    const diesAfter = deaths[processes++]
    const runtime = await scriptedRuntime(diesAfter === undefined ? {} : { diesAfter })(options)
    return { ...runtime, pid: processes }
  })
  const ask = async (content: string) => {
    const body = JSON.stringify({ model, messages: [{ role: 'user', content }] })
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
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

test('a request whose process has exited is sent once more, to a new process', async () => {
  const { ask, count } = await start([0])
  expect(await ask('Hi')).toMatchObject({ status: 200, result: 'Hello! How are you?' })
  expect(count()).toBe(2)
})

test('a request is not sent again if part of its answer has been generated', async () => {
  const { ask, count } = await start([2])
  expect(await ask('Hi')).toMatchObject({ status: 500, result: 'model_lost' })
  expect(count()).toBe(1)
  expect(await ask('Hi')).toMatchObject({ status: 200 })
})

test('a request that has crashed its process twice is refused for a minute, and others are not', async () => {
  const { ask, count } = await start([0, 0])
  expect(await ask('poison')).toMatchObject({ status: 500, result: 'model_lost' })
  expect(count()).toBe(2)
  expect(await ask('poison')).toEqual({ status: 503, result: 'crashes_model', retryAfter: '60' })
  expect(await ask('Hi')).toMatchObject({ status: 200 })
})
