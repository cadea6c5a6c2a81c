/**
 * Tests that nothing is dropped unless the request contains `"truncate": true`. In Ollama, `truncate` is true by
 * default.
 */
import { expect, test } from 'vitest'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { useTestDaemon } from '../testing/test-daemon.ts'

const model = 'shoal-nano'

/** Starts a daemon that records whether its runtime is allowed to shorten each prompt or text. */
async function useRecordingDaemon() {
  const recorded: (boolean | undefined)[] = []
  const { url } = await useTestDaemon({}, async (options) => {
    const runtime = await scriptedRuntime()(options)
    return {
      ...runtime,
      generate(generation, signal) {
        recorded.push(generation.truncates)
        return runtime.generate(generation, signal)
      },
      embed(texts, signal, embedOptions) {
        recorded.push(embedOptions?.truncates)
        return runtime.embed(texts, signal, embedOptions)
      },
    }
  })
  return {
    recorded,
    post: (path: string, body: object) =>
      fetch(url + path, {
        method: 'POST',
        body: JSON.stringify({ model, stream: false, ...body }),
      }),
  }
}

test.each([
  ['/api/chat', { messages: [{ role: 'user', content: 'Hello' }] }, false],
  ['/api/generate', { prompt: 'Hello' }, false],
  ['/api/embed', { input: 'Hello' }, true],
] as const)(
  '%s shortens the input if truncate is true; the default is %3$s',
  async (path, body, isDefault) => {
    const { recorded, post } = await useRecordingDaemon()
    for (const others of [{}, { truncate: null }, { truncate: false }, { truncate: true }]) {
      const { status } = await post(path, { ...body, ...others })
      expect(status).toBe(200)
    }
    expect(recorded).toEqual([isDefault, isDefault, false, true])
    expect((await post(path, { ...body, truncate: 'true' })).status).toBe(422)
  },
)
