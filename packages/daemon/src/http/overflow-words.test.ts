/** Tests that agents recognize the error for a prompt that does not fit in the context. */
import { beforeAll, expect, test } from 'vitest'
import { postJson } from '../testing/post-json.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { startTestDaemon } from '../testing/test-daemon.ts'

const content = 'word '.repeat(700)
const messages = [{ role: 'user', content }]

/** The expressions with which opencode, pi, Claude Code and LiteLLM search an error's message. */
const agents = {
  anthropic: [/prompt is too long[^0-9]*700\s*tokens?\s*>\s*511/i],
  openai: [
    /maximum context length is 512 tokens/i,
    /resulted in 700 tokens/i,
    /exceeds the context window/i,
    /reduce the length of the messages/i,
    /this model's maximum context length is/i,
  ],
  ollama: [
    /input length.*exceeds.*context length/i,
    /prompt too long; exceeded (?:max )?context length/i,
  ],
}

const openai = {
  type: 'exceed_context_size_error',
  code: 'context_length_exceeded',
  n_prompt_tokens: 700,
  n_ctx: 512,
}

let url: string
beforeAll(async () => {
  const daemon = await startTestDaemon({}, scriptedRuntime())
  url = daemon.url
  return () => daemon.close()
})

test.each([
  ['/v1/chat/completions', { messages }, agents.openai, { error: openai }],
  ['/v1/completions', { prompt: content }, agents.openai, { error: openai }],
  ['/v1/responses', { input: content }, agents.openai, { error: openai }],
  [
    '/v1/messages',
    { messages, max_tokens: 5 },
    agents.anthropic,
    { type: 'error', error: { type: 'invalid_request_error', code: 'context_length_exceeded' } },
  ],
  ['/api/chat', { messages }, agents.ollama, { code: 'context_length_exceeded' }],
  ['/api/generate', { prompt: content }, agents.ollama, { code: 'context_length_exceeded' }],
])('agents recognize that a prompt does not fit at %s', async (path, body, patterns, members) => {
  for (const stream of [false, true]) {
    const answer = await postJson(url + path, { model: 'shoal-tiny', stream, ...body })
    expect(answer.status).toBe(400)
    const json = (await answer.json()) as { error: string | { message: string }; detail: string }
    expect(json).toMatchObject(members)
    const message = typeof json.error === 'string' ? json.error : json.error.message
    expect(json.detail).toBe(message)
    for (const pattern of patterns) expect(message).toMatch(pattern)
  }
})
