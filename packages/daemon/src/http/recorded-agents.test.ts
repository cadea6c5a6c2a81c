/**
 * Replays the requests of real agents. They were recorded with a scripted model that writes a file; each text is
 * replaced by its length, and the descriptions of tools are left out.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import type { Chat } from '../runtime/runtime.ts'
import { postJson } from '../testing/post-json.ts'
import { scriptedRuntime } from '../testing/scripted-runtime.ts'
import { startTestDaemon } from '../testing/test-daemon.ts'

type Recording = {
  client: string
  /** The tools of each request whose own `tools` is a string. */
  tools?: object[]
  requests: { url: string; authorization?: string; body?: Record<string, unknown> }[]
}

const file = join(import.meta.dirname, '../testing/recorded-agents.jsonl')
const recordings = readFileSync(file, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Recording)

/** Continue sends a header without a key if the user has not set one. */
const refused = { status: 401, text: expect.stringContaining('the API key is empty') }

const asked: Chat[] = []
let daemon: string
beforeAll(async () => {
  const { url, close } = await startTestDaemon({}, async (options) => {
    const script = scriptedRuntime({ pieces: [{ text: 'Done.' }] })
    const runtime = await script({ ...options, contextLength: 65_536 })
    return {
      ...runtime,
      generate(generation, signal) {
        if ('chat' in generation.prompt) asked.push(generation.prompt.chat)
        return runtime.generate(generation, signal)
      },
    }
  })
  daemon = url
  return close
})

test.each(recordings.map((recording) => [recording.client, recording] as const))(
  'the model receives all tools and texts that %s sends',
  async (_, { requests, tools }) => {
    for (const { url, authorization = 'Bearer any', body } of requests) {
      const headers = { authorization, 'content-type': 'application/json' }
      if (!body) {
        expect((await fetch(daemon + url, { headers })).status).toBe(200)
        continue
      }
      const own = typeof body.tools === 'string' ? { tools } : {}
      const sent = { ...body, ...own, model: 'shoal-tiny' } as Record<string, unknown>
      const answer = await postJson(daemon + url, sent, { headers })
      const outcome = { status: answer.status, text: await answer.text() }
      if (authorization === 'Bearer ') {
        expect(outcome).toEqual(refused)
        continue
      }
      expect(outcome).toEqual({ status: 200, text: expect.stringContaining('Done.') })
      const chat = asked.at(-1) as Chat
      const names = chat.tools.map(({ function: { name } }) => name)
      expect(names).toEqual(listToolNames((sent.tools ?? []) as ToolOfRequest[]))
      const seen = JSON.stringify(chat.messages)
      const texts = [...listTexts([sent.system, sent.instructions, sent.messages, sent.input])]
      expect(texts.filter((text) => !seen.includes(JSON.stringify(text).slice(1, -1)))).toEqual([])
    }
  },
)

type Named = { type?: string; name?: string; tools?: Named[] }
type ToolOfRequest = Named & { function?: Named; custom?: Named }

const listToolNames = (tools: ToolOfRequest[]): unknown[] =>
  tools
    .filter(({ type }) => type !== 'web_search')
    .flatMap((tool) => tool.tools ?? tool.function ?? tool.custom ?? tool)
    .map(({ name }) => name)

const textMembers = ['text', 'content', 'output', 'system', 'instructions', 'input', 'thinking']

/** Yields the texts in the messages of a request. */
function* listTexts(value: unknown, key = 'content'): Generator<string> {
  if (typeof value === 'string' && textMembers.includes(key)) yield value
  if (typeof value !== 'object' || value === null) return
  for (const [name, one] of Object.entries(value)) {
    yield* listTexts(one, Array.isArray(value) ? key : name)
  }
}
