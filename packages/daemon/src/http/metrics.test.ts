import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sleep } from '@shoal/core/async'
import { expect, onTestFinished, test } from 'vitest'
import { postJson } from '../testing/post-json.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { useTestDaemon } from '../testing/test-daemon.ts'
import { makeMetrics, metered } from './metrics.ts'

test('tokens, models and requests are counted, and disconnected clients leave no requests behind', async () => {
  const endless = scriptedRuntime({
    pieces: Array.from({ length: 10_000 }, () => ({ text: ' on' })),
    pace: () => sleep(1),
  })
  const { url } = await useTestDaemon({}, endless)
  const ask = (body: object, signal?: AbortSignal) =>
    postJson(
      `${url}/v1/chat/completions`,
      { model: 'shoal-tiny', messages: [{ role: 'user', content: 'Hello' }], ...body },
      signal && { signal },
    )
  const answer = await ask({ max_tokens: 5 })
  const { usage } = (await answer.json()) as { usage: { completion_tokens: number } }
  await Promise.allSettled(
    Array.from({ length: 20 }, async () => {
      const leaving = new AbortController()
      const { body } = await ask({ stream: true }, leaving.signal)
      await body?.getReader().read()
      leaving.abort()
    }),
  )
  const read = async () => (await (await fetch(`${url}/metrics`)).text()).split('\n')
  await expect
    .poll(read)
    .toEqual(
      expect.arrayContaining([
        'shoal_daemon_models 1',
        'shoal_daemon_model_requests{model="shoal-tiny"} 0',
      ]),
    )
  const lines = await read()
  const gaveUp = lines.find((line) => /request_seconds_count\{.*status="499"/.test(line))
  expect(Number(gaveUp?.split(' ')[1])).toBeGreaterThan(0)
  const completion = lines.find((line) =>
    line.includes('tokens_total{model="shoal-tiny",kind="completion"}'),
  )
  expect(Number(completion?.split(' ')[1])).toBeGreaterThanOrEqual(usage.completion_tokens)
})

test('only the first hundred models have labels of their own', async () => {
  const metrics = makeMetrics({ droppedLogLines: () => 0 })
  const start = metered(scriptedRuntime(), metrics)
  for (let model = 1; model <= 102; model += 1) {
    const options = { modelPath: 'tide.gguf', contextLength: 512, slots: 1, threads: 1 }
    const runtime = await start({ ...options, modelId: `tide-${model}` })
    await runtime.embed(['a text'], new AbortController().signal)
  }
  const text = await metrics.registry.metrics()
  expect(text).toContain('tokens_total{model="tide-100",kind="prompt"} 2')
  expect(text).toContain('tokens_total{model="other",kind="prompt"} 4')
})

test('a stalled log reader delays no response, and dropped lines are counted', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'shoal-log-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'log')
  execFileSync('mkfifo', [file])
  const unread = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
  onTestFinished(() => closeSync(unread))
  const { url } = await useTestDaemon({ log: { file } }, scriptedRuntime())
  const path = 'x/'.repeat(4_000) // 250 such lines fill the pipe and the buffer
  for (let call = 0; call < 400; call += 1) await (await fetch(`${url}/${path}`)).text()
  const text = await (await fetch(`${url}/metrics`)).text()
  const dropped = /^shoal_daemon_log_lines_dropped_total (\d+)$/m.exec(text)?.[1]
  expect(Number(dropped)).toBeGreaterThan(0)
})
