/** Tests the recipes in docs/agents.md: each client library runs an agent loop of twenty tool calls. */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import Anthropic from '@anthropic-ai/sdk'
import { ChatOpenAI } from '@langchain/openai'
import { Agent, tool as agentTool, Runner, setTracingDisabled } from '@openai/agents-core'
import { OpenAIProvider } from '@openai/agents-openai'
import { generateText, type LanguageModel, stepCountIs, streamText, tool } from 'ai'
import { createOllama } from 'ai-sdk-ollama'
import { Ollama } from 'ollama'
import OpenAI from 'openai'
import type { ResponseInput } from 'openai/resources/responses/responses'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Chat } from '../runtime/runtime.ts'
import { useAgentDaemon } from '../testing/agent-daemon.ts'

const model = 'shoal-tiny'
const question = 'Count the ships.'
const calls = 20
const schema = {
  type: 'object' as const,
  properties: { at: { type: 'string' as const } },
  required: ['at'],
  additionalProperties: false as const,
}
const connect = (url: string) => new OpenAI({ baseURL: `${url}/v1`, apiKey: 'any' })

/** A tool that records the argument of each call. */
function lookout() {
  const seen: string[] = []
  return {
    seen,
    look({ at }: { at: string }) {
      seen.push(at)
      return `${seen.length} ships`
    },
  }
}

/** Checks that the model received another request after each call, and received all results in order. */
function expectLoop(asked: Chat[], seen: string[]) {
  expect(seen).toEqual(Array(calls).fill('sea'))
  expect(asked).toHaveLength(calls + 1)
  const { messages, tools } = asked.at(-1) as Chat
  expect(tools.map(({ function: { name } }) => name)).toEqual(['look'])
  expect(messages.find(({ role }) => role === 'user')?.content).toBe(question)
  const results = messages.filter(({ role }) => role === 'tool')
  expect(results.map(({ content }) => content)).toEqual(
    Array.from({ length: calls }, (_, index) => expect.stringContaining(`${index + 1} ships`)),
  )
  const answered = messages.flatMap(({ tool_calls }) => (tool_calls ?? []).map(({ id }) => id))
  expect(results.map(({ tool_call_id }) => tool_call_id)).toEqual(answered)
}

describe("OpenAI's SDK", () => {
  test('runs an agent loop with chat completions', async () => {
    const { url, asked } = await useAgentDaemon(calls)
    const { seen, look } = lookout()
    const runner = connect(url).chat.completions.runTools(
      {
        model,
        messages: [{ role: 'user', content: question }],
        tools: [
          {
            type: 'function',
            function: {
              name: 'look',
              description: 'looks for ships',
              parameters: schema,
              parse: JSON.parse,
              function: look,
            },
          },
        ],
      },
      { maxChatCompletions: calls + 5 },
    )
    expect(await runner.finalContent()).toBe('Done.')
    expectLoop(asked, seen)
  })

  const responseTools = [
    { type: 'function' as const, name: 'look', parameters: schema, strict: true },
  ]

  test('runs an agent loop with responses, each of which continues the one before it', async () => {
    const { url, asked } = await useAgentDaemon(calls)
    const { seen, look } = lookout()
    const openai = connect(url)
    let input: ResponseInput = [{ role: 'user', content: question }]
    let previous: string | null = null
    for (;;) {
      const response: OpenAI.Responses.Response = await openai.responses.create({
        ...{ model, input, tools: responseTools, previous_response_id: previous },
      })
      const made = response.output.flatMap((item) => (item.type === 'function_call' ? item : []))
      if (made.length === 0) {
        expect(response.output_text).toBe('Done.')
        break
      }
      previous = response.id
      input = made.map(({ call_id, arguments: args }) => ({
        type: 'function_call_output',
        call_id,
        output: look(JSON.parse(args)),
      }))
    }
    expectLoop(asked, seen)
  })
})

test("OpenAI's Agents SDK runs an agent loop, with and without streaming", async () => {
  setTracingDisabled(true)
  for (const stream of [false, true]) {
    const { url, asked } = await useAgentDaemon(calls)
    const { seen, look } = lookout()
    const agent = new Agent({
      name: 'lookout',
      instructions: 'Be brief.',
      model,
      tools: [
        agentTool({
          name: 'look',
          description: 'looks for ships',
          parameters: z.object({ at: z.string() }),
          execute: async (args) => look(args),
        }),
      ],
    })
    const modelProvider = new OpenAIProvider({ openAIClient: connect(url) as never })
    const runner = new Runner({ modelProvider, tracingDisabled: true })
    if (stream) {
      const result = await runner.run(agent, question, { stream, maxTurns: calls + 5 })
      await result.completed
      expect(result.finalOutput).toBe('Done.')
    } else {
      const result = await runner.run(agent, question, { maxTurns: calls + 5 })
      expect(result.finalOutput).toBe('Done.')
    }
    expectLoop(asked, seen)
  }
})

describe("Anthropic's SDK", () => {
  test('runs an agent loop with messages', async () => {
    const { url, asked } = await useAgentDaemon(calls)
    const { seen, look } = lookout()
    const client = new Anthropic({ baseURL: url, apiKey: 'any', authToken: null })
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: question }]
    const tools = [{ name: 'look', input_schema: schema }]
    for (;;) {
      const stream = client.messages.stream({ model, max_tokens: 100, messages, tools })
      const { content, stop_reason } = await stream.finalMessage()
      messages.push({ role: 'assistant', content })
      if (stop_reason !== 'tool_use') {
        expect(content).toEqual([{ type: 'text', text: 'Done.' }])
        break
      }
      const made = content.flatMap((block) => (block.type === 'tool_use' ? block : []))
      messages.push({
        role: 'user',
        content: made.map(({ id, input }) => ({
          type: 'tool_result',
          tool_use_id: id,
          content: look(input as { at: string }),
        })),
      })
    }
    expectLoop(asked, seen)
  })
})

test("Ollama's client runs an agent loop", async () => {
  const { url, asked } = await useAgentDaemon(calls)
  const { seen, look } = lookout()
  const ollama = new Ollama({ host: url })
  const messages: Parameters<typeof ollama.chat>[0]['messages'] = [
    { role: 'user', content: question },
  ]
  const tools = [
    { type: 'function', function: { name: 'look', description: '', parameters: schema } },
  ]
  for (;;) {
    const { message } = await ollama.chat({ model, messages, tools })
    messages.push(message)
    if (!message.tool_calls?.length) {
      expect(message.content).toBe('Done.')
      break
    }
    for (const { function: called } of message.tool_calls) {
      const content = look(called.arguments as { at: string })
      messages.push({ role: 'tool', tool_name: called.name, content })
    }
  }
  expectLoop(asked, seen)
})

describe("Vercel's AI SDK", () => {
  const providers: Record<string, (url: string) => LanguageModel> = {
    'OpenAI (responses)': (url) => createOpenAI({ baseURL: `${url}/v1`, apiKey: 'any' })(model),
    'OpenAI (chat completions)': (url) =>
      createOpenAI({ baseURL: `${url}/v1`, apiKey: 'any' }).chat(model),
    Anthropic: (url) => createAnthropic({ baseURL: `${url}/v1`, apiKey: 'any' })(model),
    'OpenAI-compatible': (url) =>
      createOpenAICompatible({ name: 'shoal', baseURL: `${url}/v1` })(model),
    Ollama: (url) => createOllama({ baseURL: url })(model),
  }

  test.each(Object.entries(providers))(
    'runs an agent loop with the %s provider, with and without streaming',
    async (_, provide) => {
      for (const ask of [generateText, streamText]) {
        const { url, asked } = await useAgentDaemon(calls)
        const { seen, look } = lookout()
        const result = await ask({
          model: provide(url),
          prompt: question,
          maxOutputTokens: 1000,
          tools: {
            look: tool({
              description: 'looks for ships',
              inputSchema: z.object({ at: z.string() }),
              execute: async (args) => look(args),
            }),
          },
          stopWhen: stepCountIs(calls + 5),
        })
        expect(await result.text).toBe('Done.')
        expectLoop(asked, seen)
      }
    },
  )
})

test('LangChain runs an agent loop', async () => {
  const { url, asked } = await useAgentDaemon(calls)
  const { seen, look } = lookout()
  const chat = new ChatOpenAI({ model, apiKey: 'any', configuration: { baseURL: `${url}/v1` } })
  const bound = chat.bindTools([
    { type: 'function', function: { name: 'look', parameters: schema } },
  ])
  const messages: Parameters<typeof bound.invoke>[0] & unknown[] = [['user', question]]
  for (;;) {
    const answer = await bound.invoke(messages)
    messages.push(answer)
    if (!answer.tool_calls?.length) {
      expect(answer.content).toBe('Done.')
      break
    }
    for (const { id, args } of answer.tool_calls) {
      messages.push({ role: 'tool', tool_call_id: id, content: look(args as { at: string }) })
    }
  }
  expectLoop(asked, seen)
})
