import OpenAI from 'openai'
import type { ResponseStreamEvent } from 'openai/resources/responses/responses'
import type { Generation, Piece, StartRuntime } from '../runtime/runtime.ts'
import { scriptedRuntime } from './scripted-runtime.ts'
import { useTestDaemon } from './test-daemon.ts'

/** Returns OpenAI's official client, connected to a daemon. */
export const connectOpenai = (url: string, apiKey = 'any') =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 })

export async function collectEvents(stream: AsyncIterable<ResponseStreamEvent>) {
  const events: ResponseStreamEvent[] = []
  for await (const event of stream) events.push(event)
  return events
}

/** Runs a daemon with a scripted model. Returns a client for it, and the generations requested from the model. */
export async function useScriptedOpenai(pieces: Piece[]) {
  const asked: Generation[] = []
  const start: StartRuntime = async (options) => {
    const runtime = await scriptedRuntime({ pieces })(options)
    return {
      ...runtime,
      generate(generation, signal) {
        asked.push(generation)
        return runtime.generate(generation, signal)
      },
    }
  }
  const { url } = await useTestDaemon({}, start)
  return { asked, openai: connectOpenai(url) }
}

export const messagesOf = (generation: Generation | undefined) =>
  generation && 'chat' in generation.prompt ? generation.prompt.chat.messages : []

export const toolsOf = (generation: Generation | undefined) =>
  generation && 'chat' in generation.prompt ? generation.prompt.chat.tools : []

/** An answer with reasoning, text and two tool calls. */
export const thoughtful: Piece[] = [
  { reasoning: 'Hm' },
  { reasoning: '.' },
  { text: 'I look.' },
  { toolCall: { name: 'a', arguments: '{"x":1}' } },
  { toolCall: { name: 'b', arguments: '' } },
  { argumentsDelta: '{"y":' },
  { argumentsDelta: '2}' },
]
