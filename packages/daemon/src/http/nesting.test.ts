import { expect, test } from 'vitest'
import { postJson } from '../testing/post-json.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { useTestDaemon } from '../testing/test-daemon.ts'

test('a body that is nested too deeply is rejected, and the daemon continues to work', async () => {
  const { url } = await useTestDaemon({}, scriptedRuntime())
  const ask = async (depth: number) => {
    const nested = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
    const body = `{"model":"shoal-nano","messages":[{"role":"user","content":"Hi"}],"chat_template_kwargs":${nested}}`
    return (await postJson(`${url}/v1/chat/completions`, body)).status
  }
  expect(await ask(100)).toBe(200)
  expect(await ask(2500)).toBe(400)
  expect(await ask(100)).toBe(200)
})
