/** Tests other clients of OpenAI's API, each with its own library. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai'
import { embed, generateText, jsonSchema, Output, streamText, tool } from 'ai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestDaemon } from '../testing/test-daemon.ts'

let daemon: Awaited<ReturnType<typeof startTestDaemon>>
beforeAll(async () => {
  daemon = await startTestDaemon()
})
afterAll(() => daemon.close())

const name = 'shoal-tiny'
const answer = 'Hello! How can I help you?'

const citySchema = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const, enum: ['Lisbon', 'Oslo'] } },
  required: ['city'],
  additionalProperties: false,
}

describe("Vercel's ai", () => {
  const provider = () =>
    createOpenAICompatible({
      name: 'shoal',
      baseURL: `${daemon.url}/v1`,
      supportsStructuredOutputs: true,
    })

  test('a text is the same with and without streaming', async () => {
    const model = provider()(name)
    const { text, usage } = await generateText({ model, prompt: 'Hello', temperature: 0 })
    expect(text).toBe(answer)
    expect(usage.inputTokens).toBe(9)
    let streamed = ''
    for await (const part of streamText({ model, prompt: 'Hello', temperature: 0 }).textStream) {
      streamed += part
    }
    expect(streamed).toBe(answer)
  })

  test('a forced tool call and a generated object match the schema', async () => {
    const model = provider()(name)
    const { toolCalls } = await generateText({
      model,
      prompt: 'Hello',
      tools: { weather: tool({ inputSchema: jsonSchema<{ city: string }>(citySchema) }) },
      toolChoice: 'required',
    })
    expect(toolCalls[0]?.toolName).toBe('weather')
    const schema = jsonSchema<{ city: string }>(citySchema)
    const { output } = await generateText({
      model,
      prompt: 'Hello',
      output: Output.object({ schema }),
    })
    expect(['Lisbon', 'Oslo']).toContain(output.city)
  })

  test('an embedding is created', async () => {
    const model = provider().embeddingModel(name)
    expect((await embed({ model, value: 'Hello' })).embedding).toHaveLength(256)
  })
})

describe('LangChain', () => {
  const settings = () => ({ apiKey: 'anything', configuration: { baseURL: `${daemon.url}/v1` } })

  test('an answer is the same with and without streaming', async () => {
    const chat = new ChatOpenAI({ ...settings(), model: name, temperature: 0 })
    expect((await chat.invoke('Hello')).content).toBe(answer)
    let streamed = ''
    for await (const { content } of await chat.stream('Hello')) streamed += String(content)
    expect(streamed).toBe(answer)
  })

  test('a structured output matches the schema', async () => {
    const chat = new ChatOpenAI({ ...settings(), model: name })
    const structured = chat.withStructuredOutput(citySchema, { method: 'jsonSchema', name: 'x' })
    const { city } = (await structured.invoke('Hello')) as { city: string }
    expect(['Lisbon', 'Oslo']).toContain(city)
  })

  test('an embedding is created', async () => {
    const embeddings = new OpenAIEmbeddings({ ...settings(), model: name })
    expect(await embeddings.embedQuery('Hello')).toHaveLength(256)
  })
})
