import { setTimeout } from 'node:timers/promises'
import type { Chat } from '../runtime/runtime.ts'
import { scriptedRuntime } from './scripted-runtime.ts'
import { useTestDaemon } from './test-daemon.ts'

/**
 * Runs a daemon whose model calls the tool `look` in its first `calls` answers, and then answers "Done." Clients receive
 * a sign of life before each part of an answer. Returns the daemon's URL and the chats that the model receives.
 */
export async function useAgentDaemon(calls: number) {
  const asked: Chat[] = []
  const { url } = await useTestDaemon({ silenceMs: 1 }, async (options) => {
    const pace = () => setTimeout(2)
    const pieces = [
      { toolCall: { name: 'look', arguments: '{"at":' } },
      { argumentsDelta: '"sea"}' },
    ]
    const call = await scriptedRuntime({ pieces, pace })(options)
    const done = await scriptedRuntime({ pieces: [{ text: 'Done.' }], pace })(options)
    return {
      ...done,
      generate(generation, signal) {
        if ('chat' in generation.prompt) asked.push(generation.prompt.chat)
        return (asked.length <= calls ? call : done).generate(generation, signal)
      },
    }
  })
  return { url, asked }
}
